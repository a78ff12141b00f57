/**
 * Builds the first process of a session's sandbox from its sources in C: `node scripts/build-sandbox-helper.mjs`. Where
 * there is no compiler, or the system is no Linux, nothing is built, and every command gets a sandbox of its own instead.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";

const directory = join(import.meta.dirname, "..", "packages", "sandbox");
const name = "tau-sandbox-helper";

/** Compilers for other machines, by the name of the architecture in Node. */
const crossCompilers = { arm64: "aarch64-linux-gnu-gcc", x64: "x86_64-linux-gnu-gcc" };

/** The path of the program; undefined if it cannot be built here. Builds only what is older than its sources. */
export function buildSandboxHelper(arch = process.arch) {
  if (process.platform !== "linux") return undefined;
  const outdir = join(directory, "dist", "helper", `linux-${arch}`);
  const compiler = arch === process.arch ? (process.env.CC ?? "cc") : crossCompilers[arch];
  const path = join(outdir, name);
  const sources = readdirSync(join(directory, "helper")).map((file) => join(directory, "helper", file));
  const newest = Math.max(...sources.map((file) => statSync(file).mtimeMs));
  if (existsSync(path) && statSync(path).mtimeMs > newest) return path;
  mkdirSync(outdir, { recursive: true });
  const draft = join(outdir, `${name}.${process.pid}`);
  const args = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-s", "-o", draft];
  const files = sources.filter((file) => file.endsWith(".c"));
  // Without shared libraries it runs on every distribution.
  for (const linking of [["-static"], []]) {
    const { status, error, stderr } = spawnSync(compiler, [...args, ...linking, ...files], { encoding: "utf8" });
    if (error?.code === "ENOENT") break;
    if (status === 0) {
      // Others may be running the old one.
      renameSync(draft, path);
      return path;
    }
    if (linking.length === 0) throw new Error(`The sandbox's helper does not compile:\n${stderr}`);
  }
  console.warn(
    `There is no C compiler for ${arch}, so the sandbox's helper is not built: each command gets a sandbox of its own.`,
  );
  return undefined;
}

if (process.argv[1] === import.meta.filename) console.log(buildSandboxHelper() ?? "not built");
