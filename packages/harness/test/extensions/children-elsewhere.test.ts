/** Children that work in another directory than their parent. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import type { ChildOptions, ExtensionAPI } from "@tau/extensions";
import type { Question } from "@tau/policy";
import { beforeEach, expect, test, vi } from "vitest";
import type { TestTurn } from "../../src/testing/script.ts";
import { type DeskOptions, openDesk, temporaryDirectory } from "../agent-session/desk.ts";

const works = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;

const named: ChildOptions = { name: "worker" };

let root = "";
let home = "";
let other = "";
beforeEach(async () => {
  root = await temporaryDirectory();
  [home, other] = [join(root, "home"), join(root, "other")];
  await Promise.all([home, other, join(root, "tmp")].map((path) => mkdir(path)));
  // Every tool may work in the directory for temporary files, and this would all be in it.
  vi.stubEnv("TMPDIR", join(root, "tmp"));
  return () => vi.unstubAllEnvs();
});

async function open(turns: readonly TestTurn[], params: DeskOptions = {}) {
  const apis: ExtensionAPI[] = [];
  const questions: Question[] = [];
  const opened = await openDesk(turns as never, {
    cwd: home,
    agentDir: join(root, "agent"),
    ask: async (question) => {
      questions.push(question);
      return { decision: "deny" };
    },
    ...params,
    extensions: { factories: [(tau) => void apis.push(tau)] },
  });
  return { ...opened, api: apis[0]!, apis, questions };
}

test("its tools work there, and the parent's directory is outside", async () => {
  const { api, session, questions, model } = await open([
    [call("write", { path: "a.txt", content: "there" })],
    [call("write", { path: join(home, "b.txt"), content: "here" })],
    [call("bash", { command: "pwd -P > pwd.txt" })],
    [text("Done.")],
  ]);
  const child = await api.openChild({ ...named, cwd: other });
  expect(await child.prompt("Work.")).toMatchObject({ kind: "done" });
  expect(await readFile(join(other, "a.txt"), "utf8")).toBe("there");
  expect((await readFile(join(other, "pwd.txt"), "utf8")).trim()).toBe(other);
  expect(existsSync(join(home, "b.txt"))).toBe(false);
  expect(questions.map(({ summary }) => summary)).toEqual([expect.stringContaining(join(home, "b.txt"))]);
  expect(model.asked[0]!.context.systemPrompt).toContain(`Working directory: ${other}`);
  expect(session.cwd).toBe(home);
  const header = JSON.parse((await readFile(child.file!, "utf8")).split("\n")[0]!) as { cwd: string };
  expect(header.cwd).toBe(other);
});

test.skipIf(!works)("the sandbox of its commands has that directory as its workspace", async () => {
  const { api } = await open([
    [call("bash", { command: `echo there > c.txt; echo here > ${join(home, "d.txt")}` })],
    [text("Done.")],
  ]);
  await (await api.openChild({ ...named, cwd: "../other" })).prompt("Work.");
  expect(existsSync(join(other, "c.txt"))).toBe(true);
  expect(existsSync(join(home, "d.txt"))).toBe(false);
});

test("a directory that is missing, or is a file, is refused by name", async () => {
  const { api } = await open([]);
  await expect(api.openChild({ ...named, cwd: join(root, "missing") })).rejects.toThrow(/missing does not exist/);
  await writeFile(join(root, "file"), "");
  await expect(api.openChild({ ...named, cwd: "../file" })).rejects.toThrow(/file is not a directory/);
});

test("settings, extensions and instructions of that directory do not apply, only those of the session", async () => {
  await mkdir(join(other, ".tau/extensions"), { recursive: true });
  const mark = join(root, "ran");
  const code = `import { writeFileSync } from "node:fs"; export default () => writeFileSync(${JSON.stringify(mark)}, "");`;
  await writeFile(join(other, ".tau/extensions/own.ts"), code);
  await writeFile(join(other, ".tau/settings.json"), JSON.stringify({ tools: { excluded: ["bash"] } }));
  await writeFile(join(other, "AGENTS.md"), "Instructions of the other directory.");
  await writeFile(join(home, "AGENTS.md"), "Instructions of the session.");
  await mkdir(join(root, "agent/agents/checker"), { recursive: true });
  await writeFile(join(root, "agent/agents/checker/system-prompt.md"), "Check.");
  const { api, model } = await open([[text("One.")], [text("Two.")]], { projectTrusted: true });
  await (await api.openChild({ ...named, cwd: other })).prompt("a");
  await (await api.openChild({ ...named, cwd: other, agentName: "checker" })).prompt("b");
  for (const { context } of model.asked) {
    expect(context.systemPrompt).toContain("Instructions of the session.");
    expect(context.systemPrompt).not.toContain("Instructions of the other directory.");
    expect(context.tools!.map(({ name }) => name)).toContain("bash");
  }
  expect(existsSync(mark)).toBe(false);
});

test("permissions that are remembered for that directory do not apply, and those for the session's do", async () => {
  const [allowedThere, allowedHere] = [join(root, "x/there.txt"), join(root, "x/here.txt")];
  await mkdir(join(root, "x"));
  await mkdir(join(root, "agent"));
  const toRule = (path: string, project: string) => ({
    capability: "write",
    target: { kind: "path", path },
    project,
  });
  await writeFile(
    join(root, "agent/approvals.json"),
    JSON.stringify({ version: 1, rules: [toRule(allowedThere, other), toRule(allowedHere, home)] }),
  );
  const { api, questions } = await open([
    [call("write", { path: allowedThere, content: "" })],
    [call("write", { path: allowedHere, content: "" })],
    [text("Done.")],
  ]);
  await (await api.openChild({ ...named, cwd: other })).prompt("Work.");
  expect([existsSync(allowedThere), existsSync(allowedHere)]).toEqual([false, true]);
  expect(questions).toHaveLength(1);
});

test("its own children stay in its directory and in the session's project", async () => {
  await writeFile(join(home, "AGENTS.md"), "Instructions of the session.");
  const { api, apis, model } = await open([[text("One.")]]);
  await api.openChild({ ...named, cwd: other });
  const grandchild = await apis[1]!.openChild({ name: "helper" });
  await grandchild.prompt("a");
  expect(model.asked[0]!.context.systemPrompt).toContain(`Working directory: ${other}`);
  expect(model.asked[0]!.context.systemPrompt).toContain("Instructions of the session.");
});
