/** How much the installed program takes on the disk, ripgrep and all. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { installProgram } from "./packed-program.mjs";

export default async function bench(report) {
  const { directory } = await installProgram();
  const found = readdirSync(join(directory, "node_modules"), { recursive: true, withFileTypes: true });
  const sizes = found.filter((one) => one.isFile()).map((one) => statSync(join(one.parentPath, one.name)).size);
  report("installed", sizes.reduce((sum, size) => sum + size, 0) / 1e6, "MB (under 25)");
}
