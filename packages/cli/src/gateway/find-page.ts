import { dirname, join } from "node:path";
import { findInstalled } from "../hosting/installed-file.ts";

/** Returns the directory of the built page beside the program. It is not there where the sources run as they are. */
export function findPage(): string | undefined {
  const file = findInstalled(join("page", "index.html"));
  return file === undefined ? undefined : dirname(file);
}
