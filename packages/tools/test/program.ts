/** Programs that run in a process of their own, bundled from our sources. */
import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { scratch } from "./scratch.ts";

/** Writes a program to `outfile`. It imports our sources as a file of this directory would. */
export async function bundleProgram(outfile: string, contents: string): Promise<string> {
  await build({
    stdin: { resolveDir: import.meta.dirname, loader: "ts", contents },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    external: ["google-auth-library", "@silvia-odwyer/photon-node", "@vscode/ripgrep"],
    logLevel: "error",
  });
  return outfile;
}

/**
 * How many bytes the memory of a process of its own grows by, at most, while it runs `work`; `prepare` runs before. The
 * process that runs the tests is no measure: it also holds what earlier tests left behind. Both are statements of a
 * program that may use `args`.
 */
export async function measureGrowth(parts: { imports: string; prepare?: string; work: string; args?: string[] }) {
  const program = `
    import { readFileSync } from "node:fs";
    ${parts.imports}
    const args = process.argv.slice(2);
    // \`maxRSS\` of \`process.resourceUsage\` begins with the memory of the process that started this one.
    const getPeak = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1024;
    ${parts.prepare ?? ""}
    globalThis.gc();
    const before = process.memoryUsage.rss();
    ${parts.work}
    console.log(getPeak() - before);
  `;
  const directory = scratch();
  symlinkSync(join(import.meta.dirname, "../../../node_modules"), join(directory, "node_modules"));
  const script = await bundleProgram(join(directory, "program.mjs"), program);
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, ...(parts.args ?? [])]);
  return Number(stdout);
}
