import { sep } from "node:path";

/**
 * The path of a name in a directory whose path is absolute and normalised. `join` would normalise it again: with as many
 * paths as a session looks at, V8 begins to optimise that in the middle of a short run, which costs more than the run gains.
 */
export const joinName = (directory: string, name: string): string =>
  directory.endsWith(sep) ? directory + name : directory + sep + name;
