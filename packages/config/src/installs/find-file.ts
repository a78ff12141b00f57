/** Finds files as imports name them. */
import { realpathSync } from "node:fs";
import { extname, join } from "node:path";
import { getKind } from "./read-directory.ts";

const extensions = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];

/** TypeScript names the file that it compiles to. */
const sourceExtensions: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx"],
  ".jsx": [".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};

/** The real path of a file, of a file with another ending, or of the index of a directory. */
export function findFile(path: string): string | undefined {
  const ending = extname(path);
  const sources = (sourceExtensions[ending] ?? []).map((extension) => path.slice(0, -ending.length) + extension);
  const files = [path, ...sources, ...extensions.map((extension) => path + extension)];
  const found = files.find(isFile) ?? extensions.map((extension) => join(path, `index${extension}`)).find(isFile);
  return found === undefined ? undefined : realpathSync.native(found);
}

const isFile = (path: string): boolean => getKind(path) === "file";
