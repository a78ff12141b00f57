/** A rename in 200 files: all of them or none, also for a process that is killed. `TAU_LONG=1` kills it. */
import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { call } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { buildSessionProgram } from "../session-program.ts";
import { lspCall, makeDirectory, runCalls, toyServer, writeFiles } from "./kit.ts";

const fileCount = 200;
/** The rename at which a process is killed. */
const kills = [1, 100, 200];
const rename = lspCall({ action: "rename", file: "f0.toy", line: 1, symbol: "one", new_name: "first" }, "1");
const project = Object.fromEntries(Array.from({ length: fileCount }, (_, index) => [`f${index}.toy`, "use one\n"]));

/** How many files have which text. */
async function countTexts(cwd: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of (await readdir(cwd)).filter((each) => /^f\d+\.toy$/.test(each))) {
    const text = await readFile(join(cwd, name), "utf8");
    counts[text] = (counts[text] ?? 0) + 1;
  }
  return counts;
}

test("a symbol is renamed in 200 files", async () => {
  const settings = { lsp: { servers: { toy: { ...toyServer("whole-project") } } } } as object;
  const { results, opened } = await runCalls([rename], { files: project, settings });
  expect(results[0]).toMatchObject({ isError: false, text: expect.stringContaining("and 180 more") as unknown });
  expect(await countTexts(opened.cwd)).toEqual({ "use first\n": fileCount });
});

test("a file that another program changed is changed as it is now, though the server did not notice", async () => {
  const settings = { lsp: { servers: { toy: { ...toyServer("whole-project") } } } } as object;
  const { results, opened } = await runCalls(
    [
      lspCall({ action: "hover", file: "a.toy", line: 1, symbol: "one" }, "0"),
      call("bash", { command: "printf 'new line\\nuse one\\n' > b.toy" }, "1"),
      lspCall({ action: "rename", file: "a.toy", line: 1, symbol: "one", new_name: "first" }, "2"),
    ],
    { files: { "a.toy": "use one\n", "b.toy": "use one\n" }, settings },
  );
  expect(results.map(({ isError }) => isError)).toEqual([false, false, false]);
  expect(await readFile(join(opened.cwd, "b.toy"), "utf8")).toBe("new line\nuse first\n");
});

test.runIf(process.env["TAU_LONG"])(
  "a process that is killed while it renames leaves all files or none once the next session is open",
  { timeout: kills.length * 600_000 },
  async () => {
    const directory = await makeDirectory();
    const program = await buildSessionProgram(
      directory,
      `
        import fs from "node:fs";
        import { syncBuiltinESMExports } from "node:module";
        import { scriptedModel, text } from "@tau/ai/testing";
        import { createAgentSession } from "@tau/harness";
        import { discovery, lsp } from "../src/index.ts";
        const [cwd, agentDir, killedAt] = process.argv.slice(2);
        const { rename } = fs;
        let renames = 0;
        fs.rename = (from, to, done) => {
          if (/f[0-9]+[.]toy$/.test(String(to)) && ++renames === Number(killedAt)) process.kill(process.pid, "SIGKILL");
          rename(from, to, done);
        };
        syncBuiltinESMExports();
        const session = await createAgentSession({
          cwd, agentDir, model: scriptedModel([[${JSON.stringify(rename)}], [text("Done.")]]), features: [discovery(), lsp()],
        });
        if (killedAt !== "0") await session.prompt("go");
        await session.dispose();
      `,
    );
    for (const killedAt of kills) {
      const [cwd, agentDir] = [join(directory, `work${killedAt}`), join(directory, `agent${killedAt}`)];
      await writeFiles(cwd, project);
      await writeFiles(agentDir, { "lsp.json": JSON.stringify({ servers: { toy: toyServer("whole-project") } }) });
      const run = (at: number) =>
        spawnSync(process.execPath, [program, cwd, agentDir, String(at)], { encoding: "utf8" });
      expect(run(killedAt)).toMatchObject({ signal: "SIGKILL" });
      expect(await countTexts(cwd)).toEqual(
        killedAt === 1 ? { "use one\n": 200 } : { "use one\n": 201 - killedAt, "use first\n": killedAt - 1 },
      );
      expect(run(0)).toMatchObject({ status: 0 });
      expect(await countTexts(cwd)).toEqual({ "use one\n": fileCount });
    }
  },
);
