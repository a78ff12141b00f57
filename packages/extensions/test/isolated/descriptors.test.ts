/** Starting the process of an extension where no more files can be opened. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";

/** Uses up all descriptors, and says with what starting the process fails. */
const code = `
import { openSync, writeSync } from "node:fs";
import { startProcess } from "./start-process.ts";
const facts = { system: [], program: [process.execPath], extension: [], hidden: [], machineWide: [], isRoot: false };
const options = { isolation: { bwrap: "/bin/true", prlimit: "/bin/true" }, facts, env: {}, program: "/child.js", maxMemoryMb: 64 };
try { for (;;) openSync("/dev/null"); } catch (error) { if (error.code !== "EMFILE") throw error; }
try { startProcess(options); } catch (error) { writeSync(1, error.message); }
setImmediate(() => process.exit(0));
`;

test("too many open files fail the start of a process, and not the program", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tau-descriptors-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: join(import.meta.dirname, "../../src/isolated"), loader: "ts" },
    write: false,
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["@tau/source"],
    packages: "bundle",
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
    external: ["@napi-rs/keyring", "@opentelemetry/api", "@vscode/ripgrep", "@silvia-odwyer/photon-node"],
    logLevel: "error",
  });
  const path = join(directory, "program.mjs");
  writeFileSync(path, outputFiles[0]!.text);
  const output = execFileSync("/bin/sh", ["-c", `ulimit -n 64; exec "$0" "$1"`, process.execPath, path], {
    encoding: "utf8",
  });
  expect(output).toBe("Its process could not be started: too many files are open.");
});
