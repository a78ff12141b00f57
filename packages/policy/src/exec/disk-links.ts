/** Lets a classification follow the links that are on the disk. */
import { lookAtPath, readLink } from "@tau/sandbox/internal";
import type { ExecContext } from "./classification.ts";
import { followLinks, type ReadLink } from "./links.ts";

/** Looks first: reading what is no link throws, which takes longer. */
const readDiskLink: ReadLink = (path) => (lookAtPath(path)?.isSymbolicLink() ? readLink(path) : undefined);

/**
 * Returns the context with real paths, and with a port that reads links. Use it for one command: what was read is kept, so
 * that a path is looked at once.
 */
export function withDiskLinks(context: ExecContext, read: ReadLink = readDiskLink): ExecContext {
  const known = new Map<string, string | undefined>();
  const readOnce: ReadLink = (path) => {
    if (!known.has(path)) known.set(path, read(path));
    return known.get(path);
  };
  const toReal = (path: string) => followLinks(path, { links: new Map(), readLink: readOnce, keepsLast: false })[0]!;
  const { cwd, home, workspace, agentDir } = context;
  return {
    ...context,
    cwd: toReal(cwd),
    home: toReal(home),
    workspace: toReal(workspace),
    ...(agentDir !== undefined && { agentDir: toReal(agentDir) }),
    readLink: readOnce,
  };
}
