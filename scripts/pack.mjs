/**
 * Packs every package as npm would publish it: `node scripts/pack.mjs [DIRECTORY]` builds them and prints the path of each archive.
 * `npm install DIRECTORY/*.tgz` then installs them in another project.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { packCli } from "./pack-cli.mjs";

const root = join(import.meta.dirname, "..");
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/** The directories of the libraries: the program has an archive of its own, and the page of the gateway is in it. */
export const listLibraries = () =>
  readJson(join(root, "package.json"))
    .workspaces.filter((path) => path !== "packages/cli" && !readJson(join(root, path, "package.json")).private)
    .map((path) => join(root, path));

/** Packs libraries that are built. Returns the paths of the archives. */
export function packLibraries(directory, sources = listLibraries()) {
  mkdirSync(directory, { recursive: true });
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", directory, ...sources];
  const output = execFileSync("npm", args, { encoding: "utf8", shell: process.platform === "win32" });
  return output
    .trim()
    .split("\n")
    .map((name) => join(directory, name));
}

if (process.argv[1] === import.meta.filename) {
  const directory = resolve(process.argv[2] ?? "archives");
  execFileSync(process.execPath, [join(root, "scripts", "build.mjs"), "--types"], { stdio: ["ignore", 2, 2] });
  for (const path of [...packLibraries(directory), await packCli(directory)]) console.log(path);
}
