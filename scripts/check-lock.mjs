/**
 * Checks without a network that package-lock.json belongs to the manifests: every workspace is in it with the dependencies of
 * its package.json, and every package from a registry has a version and a checksum. Prints what is wrong.
 */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const fields = ["name", "version", "dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

const { packages } = read("package-lock.json");
const problems = [];

for (const [path, entry] of Object.entries(packages)) {
  if (path.includes("node_modules/")) {
    const isOurs = entry.link === true || entry.inBundle === true;
    if (!isOurs && !(entry.version && entry.integrity?.startsWith("sha512-")))
      problems.push(`${path} has no version or no checksum.`);
    continue;
  }
  const manifest = read(`${path === "" ? "." : path}/package.json`);
  for (const field of fields) {
    // npm leaves out the name of a workspace that is the same as that of its directory.
    if (field === "name" && entry.name === undefined) continue;
    if (!isDeepStrictEqual(entry[field] ?? {}, manifest[field] ?? {}))
      problems.push(
        `${field} of ${path === "" ? "package.json" : `${path}/package.json`} is not that of the lock file.`,
      );
  }
}
for (const path of read("package.json").workspaces ?? [])
  if (!Object.hasOwn(packages, path)) problems.push(`The workspace ${path} is not in the lock file.`);

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
