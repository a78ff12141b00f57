/** Looks for programs on this machine. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";

/** Whether there is a file that can be executed. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // It does not exist, or is not ours to run.
    return false;
  }
}

/** The directories of a `PATH`. Relative ones are left out: they would name programs of whatever directory we are in. */
export const listPathDirectories = (path: string | undefined): string[] =>
  (path ?? "").split(delimiter).filter(isAbsolute);
