import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Returns the path of what is installed beside the program, which may be called through a link. Undefined if it is not
 * there, as where the sources run as they are.
 */
export function findInstalled(name: string, program = process.argv[1] ?? ""): string | undefined {
  if (!existsSync(program)) return undefined;
  const path = join(dirname(realpathSync(program)), name);
  return existsSync(path) ? path : undefined;
}
