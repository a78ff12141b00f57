/** A process of tau that is killed leaves no language server behind. `TAU_LONG=1` kills 200 of them. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { lspCall, makeDirectory, toyServer, writeFiles } from "./kit.ts";

const kills = process.env["TAU_LONG"] ? 200 : 2;

const countProcesses = (mark: string): number =>
  spawnSync("ps", ["-eo", "args="], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((line) => line.includes(mark)).length;

test("a killed process leaves no server", { timeout: kills * 30_000 + 60_000 }, async () => {
  const directory = await makeDirectory();
  await symlink(join(import.meta.dirname, "../../../../node_modules"), join(directory, "node_modules"));
  const [cwd, starts] = [join(directory, "work"), join(directory, "work/starts")];
  await writeFiles(directory, {
    "work/a.toy": "def one\n",
    "agent/lsp.json": JSON.stringify({ servers: { toy: toyServer("good", starts) } }),
  });
  const outfile = join(directory, "program.mjs");
  const hover = lspCall({ action: "hover", file: "a.toy", line: 1 }, "1");
  await build({
    stdin: {
      resolveDir: import.meta.dirname,
      loader: "ts",
      contents: `
        import { scriptedModel, text } from "@tau/ai/testing";
        import { createAgentSession } from "@tau/harness";
        import { discovery, lsp } from "../../src/index.ts";
        const session = await createAgentSession({
          cwd: ${JSON.stringify(cwd)}, agentDir: ${JSON.stringify(join(directory, "agent"))},
          model: scriptedModel([[${JSON.stringify(hover)}], [text("Done.")]]), features: [discovery(), lsp()],
        });
        await session.prompt("go");
        console.log(JSON.stringify(session.messages.at(-2)));
        setInterval(() => {}, 1_000);
      `,
    },
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
  for (let kill = 0; kill < kills; kill++) {
    const child = spawn(process.execPath, [outfile], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [line] = (await Promise.race([once(child.stdout, "data"), once(child, "exit")])) as [unknown];
    expect(String(line)).toContain("word def");
    expect(countProcesses(starts)).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await once(child, "exit");
    await expect.poll(() => countProcesses(starts), { timeout: 20_000 }).toBe(0);
  }
});
