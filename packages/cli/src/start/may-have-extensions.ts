import { existsSync } from "node:fs";
import { join } from "node:path";

/** A cheap look at the directories of the user and the project: there are extensions, or settings that may name some. */
export const mayHaveExtensions = (directories: readonly string[]): boolean =>
  directories.some((directory) => ["extensions", "settings.json"].some((name) => existsSync(join(directory, name))));
