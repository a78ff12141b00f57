/** The names of branches and directories of tasks. Pure. */

const prefix = "pi-fanout-";
const uuid = /-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** A branch has the id, a prefix and a UUID in its name, and a file for its lock: at most 255 bytes. */
const maxIdLength = 64;

/**
 * Makes a name of an id that is valid as a directory and as a part of a branch, whatever the id is. Different ids may get the
 * same name.
 */
export function toSafeId(id: string): string {
  const cut = id
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, maxIdLength)
    .replace(/-+$/, "");
  return cut === "" ? "task" : cut;
}

export const toBranch = (id: string, unique: string): string => `${prefix}${toSafeId(id)}-${unique}`;

/** The safe id in the name of a branch; undefined for any other branch. */
export function findIdInBranch(branch: string): string | undefined {
  return branch.startsWith(prefix) && uuid.test(branch) ? branch.slice(prefix.length).replace(uuid, "") : undefined;
}
