/** A process of tau that is killed leaves no language server behind. `TAU_LONG=1` kills 200 of them. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildSessionProgram, killAfterOutput } from "../session-program.ts";
import { lspCall, makeDirectory, toyServer, writeFiles } from "./kit.ts";

const kills = process.env["TAU_LONG"] ? 200 : 2;

const countProcesses = (mark: string): number =>
  spawnSync("ps", ["-eo", "args="], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((line) => line.includes(mark)).length;

test("a killed process leaves no server", { timeout: kills * 30_000 + 60_000 }, async () => {
  const directory = await makeDirectory();
  const [cwd, starts] = [join(directory, "work"), join(directory, "work/starts")];
  await writeFiles(directory, {
    "work/a.toy": "def one\n",
    "agent/lsp.json": JSON.stringify({ servers: { toy: toyServer("good", starts) } }),
  });
  const hover = lspCall({ action: "hover", file: "a.toy", line: 1 }, "1");
  const program = await buildSessionProgram(
    directory,
    `
    import { scriptedModel, text } from "@tau/ai/testing";
    import { createAgentSession } from "@tau/harness";
    import { discovery, lsp } from "../src/index.ts";
    const session = await createAgentSession({
      cwd: ${JSON.stringify(cwd)}, agentDir: ${JSON.stringify(join(directory, "agent"))},
      model: scriptedModel([[${JSON.stringify(hover)}], [text("Done.")]]), features: [discovery(), lsp()],
    });
    await session.prompt("go");
    console.log(JSON.stringify(session.messages.at(-2)));
    setInterval(() => {}, 1_000);
  `,
  );
  for (let kill = 0; kill < kills; kill++) {
    await killAfterOutput(program, [], (output) => {
      expect(output).toContain("word def");
      expect(countProcesses(starts)).toBeGreaterThan(0);
    });
    await expect.poll(() => countProcesses(starts), { timeout: 20_000 }).toBe(0);
  }
});
