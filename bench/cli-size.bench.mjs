/** Size of the installed program on disk, including ripgrep. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { installProgram } from "./packed-program.mjs";

export default async function bench(report) {
  const { directory } = await installProgram();
  const entries = readdirSync(join(directory, "node_modules"), { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  report("installed", sizes.reduce((sum, size) => sum + size, 0) / 1e6, "MB (under 25)");
}
