/** Where things are. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultAgentDir } from "@tau/config/settings";

/** The version of pi whose names these modules have. */
export const VERSION = "1.5.0";

/** Directory in which pi's extensions keep files in a project. tau reads it too. */
export const CONFIG_DIR_NAME = ".pi";

export const getAgentDir = (): string => defaultAgentDir();

/** The directory of the package that this module is in: tau's own in the program. It has no documents or examples of pi's. */
export function getPackageDir(): string {
  // In the program, the path of the file.
  const own = dirname(import.meta.url.startsWith("file:") ? fileURLToPath(import.meta.url) : import.meta.url);
  for (let directory = own; directory !== dirname(directory); directory = dirname(directory)) {
    if (existsSync(join(directory, "package.json"))) return directory;
  }
  return own;
}
export const getReadmePath = (): string => join(getPackageDir(), "README.md");
export const getDocsPath = (): string => join(getPackageDir(), "docs");
export const getExamplesPath = (): string => join(getPackageDir(), "examples");
