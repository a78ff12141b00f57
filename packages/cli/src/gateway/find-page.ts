import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** The built page beside the program. It is not there where the sources run as they are. */
export function findPage(): string | undefined {
  const directory = join(dirname(realpathSync(process.argv[1] ?? "")), "page");
  return existsSync(join(directory, "index.html")) ? directory : undefined;
}
