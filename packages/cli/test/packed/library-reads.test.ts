/** A program with the published libraries opens and watches no file of the user or of the project unless it says so. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installLibraries } from "./kit.ts";
import { fileCalls, findTraceProblem, getTraceCommand, readOpenedPaths } from "./system-calls.ts";

const problem = findTraceProblem();
if (problem !== undefined)
  console.warn(`SKIPPED: no program can be traced here, so what a library reads is not tested: ${problem}`);

const program = `
import { complete, completeSimple, stream, streamSimple } from "@tau/ai";
import { createAgent, createAgentSession } from "@tau/harness";
import { call, scriptedModel, text } from "@tau/ai/testing";

const [kind, cwd] = process.argv.slice(2);
const turns = [[call("read", { path: "notes.txt" })], [text("Read.")]];
if (kind === "createAgent") {
  const model = scriptedModel(turns);
  const functions = Object.entries({ complete, completeSimple, stream, streamSimple });
  const bound = functions.map(([name, run]) => [name, (context, options) => run(model, context, options)]);
  const agent = createAgent({ ai: { model, ...Object.fromEntries(bound) }, cwd, tools: ["read"] });
  await agent.run("Read the notes.");
  await agent.dispose();
} else {
  const params = kind === "use" ? { use: ["user", "project"] } : {};
  const session = await createAgentSession({ cwd, model: scriptedModel(turns), ...params });
  await session.prompt("Read the notes.");
  await session.dispose();
}
`;

describe.skipIf(problem !== undefined)("of the files of the user and the project,", () => {
  let [root, home, cwd] = ["", "", ""];
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "tau-reads-")));
    [home, cwd] = [join(root, "home"), join(root, "work")];
    const files = {
      "home/.tau/settings.json": "{}",
      "home/.tau/AGENTS.md": "The user's.",
      "home/.agents/skills/mine/SKILL.md": "---\nname: mine\ndescription: Mine.\n---\n",
      "work/.tau/settings.json": "{}",
      "work/AGENTS.md": "The project's.",
      "work/notes.txt": "Notes.",
      "library/program.mjs": program,
    };
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), content);
    }
    await installLibraries(join(root, "library"));
  });
  afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));

  /** Lists what was opened below the user's directory and the project's, relative to both. */
  async function listOpened(kind: string): Promise<string[]> {
    const trace = join(root, `trace-${kind}`);
    const [strace, ...args] = [...getTraceCommand(trace, fileCalls), process.execPath];
    const env = { PATH: process.env["PATH"], HOME: home };
    await promisify(execFile)(strace!, [...args, join(root, "library", "program.mjs"), kind, cwd], { env });
    const paths = (await readOpenedPaths(trace)).filter((path) => path.startsWith(home) || path.startsWith(cwd));
    return [...new Set(paths.map((path) => path.slice(root.length + 1)))].toSorted();
  }

  test.each(["createAgent", "createAgentSession"])("%s opens only what a tool is asked for", async (kind) => {
    expect(await listOpened(kind)).toEqual(["work/notes.txt"]);
  });

  test("a session with `use` opens them", async () => {
    const opened = ["home/.tau/AGENTS.md", "home/.tau/settings.json", "work/AGENTS.md", "work/.tau/settings.json"];
    expect(await listOpened("use")).toEqual(expect.arrayContaining(opened));
  });
});
