/**
 * The npm of this machine with a code cache: tests start it more than a hundred times, and a third of its time is to compile
 * itself.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..", "..");

/** Returns the script that is npm, or undefined if the program in the path is another. */
function findNpm(): string | undefined {
  try {
    const path = realpathSync(execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim());
    return path.endsWith("npm-cli.js") ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a file that other processes may write, read or run at the same time. */
function place(path: string, text: string): void {
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, text);
  chmodSync(fresh, 0o755);
  renameSync(fresh, path);
}

/** Makes a directory with a program `npm`, for this version of Node and of npm. */
function makeProgram(npm: string): string {
  const directory = dirname(dirname(npm));
  const version = `${process.version}-${process.arch}-${statSync(join(directory, "package.json")).mtimeMs}`;
  const made = join(root, "node_modules", ".cache", "tau", "npm", version);
  const [preload, program] = [join(made, "preload.cjs"), join(made, "npm")];
  mkdirSync(made, { recursive: true });
  const library = join(import.meta.dirname, "code-cache.cjs");
  const [code, file, below] = [library, join(made, "code"), directory].map((path) => JSON.stringify(path));
  place(preload, `require(${code}).useCodeCache(${file}, ${below});\n`);
  const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  place(program, `#!/bin/sh\nexec node --require ${quote(preload)} ${quote(npm)} "$@"\n`);
  return made;
}

let path: string | undefined;

/** Returns the path of this process, with that npm before the others. */
export function getPathWithNpm(): string {
  if (path !== undefined) return path;
  const npm = findNpm();
  const own = process.env["PATH"] ?? "";
  return (path = npm === undefined ? own : `${makeProgram(npm)}${delimiter}${own}`);
}
