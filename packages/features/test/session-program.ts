/** Programs with a session of tau, for tests that kill them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { onTestFinished } from "vitest";

/** Bundles a program into a directory. It imports features from `../src/index.ts`. */
export async function buildSessionProgram(directory: string, contents: string): Promise<string> {
  await symlink(join(import.meta.dirname, "../../../node_modules"), join(directory, "node_modules"));
  const outfile = join(directory, "program.mjs");
  await build({
    stdin: { resolveDir: import.meta.dirname, loader: "ts", contents },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    external: [
      "jsonc-parser",
      "google-auth-library",
      "@silvia-odwyer/photon-node",
      "@vscode/ripgrep",
      "@napi-rs/keyring",
    ],
    banner: {
      js: 'import { createRequire as createBundleRequire } from "node:module"; const require = createBundleRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return outfile;
}

/** Starts a program, and kills it after it has printed something, and `check` has looked at that. */
export async function killAfterOutput(
  program: string,
  args: readonly string[],
  check: (output: string) => void,
): Promise<void> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [output] = (await Promise.race([once(child.stdout, "data"), once(child, "exit")])) as [unknown];
  check(String(output));
  child.kill("SIGKILL");
  await once(child, "exit");
}
