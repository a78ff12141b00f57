/** Tasks in copies of the repository: where they write, and what becomes of their changes. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { type ExtensionSurface, noUi } from "@tau/extensions";
import { expect, onTestFinished, test } from "vitest";
import { createRepository } from "../worktrees/kit.ts";
import { getLastText, hang, openPlay, type Parts } from "./script.ts";

const isolated = (description: string, more: object = {}) => ({
  description,
  prompt: `Do ${description}.`,
  isolated: true,
  ...more,
});

/** Gives the tasks in one call, and then repeats the result. */
const giveTasks = (...tasks: object[]): Parts["main"] => {
  return (step) => (step === 1 ? [call("task", { tasks })] : [text("Done.")]);
};

const writing = (path: string, content: string): Parts["main"] => {
  return (step) => (step === 1 ? [call("write", { path, content })] : [text(`Wrote ${path}.`)]);
};

const getReport = (session: { messages: readonly unknown[] }): string => {
  const results = session.messages as { role: string; content: { text?: string }[] }[];
  return results
    .find(({ role }) => role === "toolResult")!
    .content.map((block) => block.text)
    .join("");
};

test("several tasks write the same new names side by side, and each change is in the files at the end", async () => {
  const repository = await createRepository();
  const { session, prompt } = await openPlay(
    {
      main: giveTasks(isolated("one"), isolated("two")),
      "1": writing("one.txt", "1\n"),
      "2": writing("two.txt", "2\n"),
    },
    { cwd: repository.top },
  );
  await prompt("go");
  const report = getReport(session);
  expect(report).toContain("changed one.txt]");
  expect(report).toContain("changed two.txt]");
  expect(readFileSync(join(repository.top, "one.txt"), "utf8")).toBe("1\n");
  expect(readFileSync(join(repository.top, "two.txt"), "utf8")).toBe("2\n");
  expect(repository.branches()).toEqual(["main"]);
});

test("a change that does not fit stays in a branch, and the files are as they were", async () => {
  const repository = await createRepository();
  const { session, prompt } = await openPlay(
    {
      main: giveTasks(isolated("clash")),
      "1": async (step) => {
        if (step > 1) return [text("Changed.")];
        await repository.write("a.txt", "changed here meanwhile\n");
        return [call("bash", { command: "printf 'changed there\\n' > a.txt" })];
      },
    },
    { cwd: repository.top },
  );
  await prompt("go");
  expect(getReport(session)).toMatch(
    /Its changes do not fit the files here \(.*a\.txt.*\)\. They are in the branch pi-fanout-1-/,
  );
  expect(readFileSync(join(repository.top, "a.txt"), "utf8")).toBe("changed here meanwhile\n");
  expect(repository.branches()).toHaveLength(2);
});

test("changes of a task that failed are in a branch", async () => {
  const repository = await createRepository();
  const schema = { type: "object", required: ["answer"], properties: { answer: { type: "string" } } };
  const { session, prompt } = await openPlay(
    { main: giveTasks(isolated("fail", { schema })), "1": writing("left.txt", "left\n") },
    { cwd: repository.top },
  );
  await prompt("go");
  expect(getReport(session)).toMatch(
    /failed[\s\S]*Its changes of left\.txt are in the branch pi-fanout-1-\S+, not here\./,
  );
  expect(existsSync(join(repository.top, "left.txt"))).toBe(false);
});

test("an agent whose file says so works in a copy, also when its task is resumed", async () => {
  const repository = await createRepository();
  const agentDir = join(repository.root, "agent");
  await mkdir(join(agentDir, "agents"), { recursive: true });
  await writeFile(join(agentDir, "agents/apart.md"), "---\ndescription: Works apart\nisolated: true\n---\nWork.");
  let resumedWith = "";
  const { prompt } = await openPlay(
    {
      main: (step) => {
        if (step === 1) return [call("task", { description: "a", prompt: "Do a.", agent: "apart" })];
        if (step === 2) return [call("task", { description: "a", prompt: "Continue.", resume: "1" })];
        return [text("Done.")];
      },
      "1": (step, context) => {
        if (step === 1) return [call("write", { path: "first.txt", content: "1" })];
        if (step === 3) resumedWith = getLastText(context);
        if (step === 3) return [call("write", { path: "second.txt", content: "2" })];
        // The copy has it, the repository does not until the task is over.
        expect(existsSync(join(repository.top, step === 2 ? "first.txt" : "second.txt"))).toBe(false);
        return [text("Written.")];
      },
    },
    { cwd: repository.top, agentDir },
  );
  await prompt("go");
  expect(repository.git("status", "--short")).toBe("?? first.txt\n?? second.txt\n");
  expect(resumedWith).toMatch(/You work in a new copy of the repository.*Continue\./);
});

test("a session that ends leaves no copies of tasks that changed nothing", async () => {
  const repository = await createRepository();
  const { session, prompt, model } = await openPlay(
    {
      main: (step) => (step === 1 ? [call("task", { ...isolated("a"), background: true })] : [text("Started.")]),
      "1": (_step, _context, signal) => hang(signal),
    },
    { cwd: repository.top },
  );
  const surface: ExtensionSurface = { mode: "rpc", builtIns: { commands: [], keys: new Map() }, ui: noUi };
  onTestFinished(session.onFirstExtension(async () => void (await session.attachSurface(surface))));
  await prompt("go");
  await expect.poll(() => model.asked.length).toBe(3);
  expect(repository.left()).toContain("1");
  await session.dispose();
  expect(repository.left()).toEqual([]);
});

test("in plan mode nothing is copied", async () => {
  const repository = await createRepository();
  const { session, prompt } = await openPlay(
    { main: giveTasks(isolated("a")) },
    { cwd: repository.top, planMode: true },
  );
  await prompt("go");
  expect(getReport(session)).toContain("In plan mode nothing is written");
  expect(repository.left()).toEqual([]);
});

test("outside of a repository the task fails and says why", async () => {
  const { session, prompt } = await openPlay({ main: giveTasks(isolated("a")) });
  await prompt("go");
  expect(getReport(session)).toMatch(/failed[\s\S]*not in a git repository/);
});
