import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { findProgram } from "./programs.ts";

const hasPerl = process.platform === "linux" && findProgram("perl", "/nowhere") !== undefined;

test.runIf(hasPerl)("a command that replaces a file by a pipe and back makes nobody wait for the pipe", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tau-look-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const reader = join(directory, "reader.mjs");
  await build({
    stdin: {
      contents: `import { readText } from "./look.ts";
        const seen = new Set();
        for (const end = Date.now() + 300; Date.now() < end;) seen.add(readText("config"));
        console.log([...seen].map(String).sort().join());`,
      resolveDir: import.meta.dirname,
    },
    outfile: reader,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    logLevel: "error",
  });
  const replace = `use POSIX; open(T, ">t"); print T "text"; close T; link("t", "config");
    while (1) { POSIX::mkfifo("f", 0600); rename("f", "config"); link("t", "l"); rename("l", "config"); }`;
  const command = spawn("perl", ["-e", replace], { cwd: directory, stdio: "ignore" });
  onTestFinished(() => void command.kill("SIGKILL"));
  // Started where it cannot hold up the tests. It ends by itself, unless it waits for the pipe.
  const output = execFileSync(process.execPath, [reader], { cwd: directory, encoding: "utf8", timeout: 120_000 });
  expect(output.trim()).toMatch(/^(?:text,)?undefined$|^text$/);
});
