/** The files that a call means. */
import { existsSync } from "node:fs";
import { listExisting, resolvePath } from "@tau/tools";

/** Absolute; `~` is the home directory, and blanks that only look like a space are one. */
export const toPath = (cwd: string, typed: string): string =>
  resolvePath(cwd, typed.replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "));

/** Finds a file that should exist under the spellings that the typed path may mean. */
export const toExistingPath = (cwd: string, typed: string): string =>
  [...listExisting(cwd, typed), toPath(cwd, typed)].find((path) => existsSync(path)) ?? toPath(cwd, typed);
