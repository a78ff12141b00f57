/** The tool `task` in the foreground: several side by side, within the limits of their tree. */
import { call, text } from "@tau/ai/testing";
import type { ToolResultMessage } from "@tau/ai";
import { expect, test } from "vitest";
import { createGate, getAgentId, getLastText, hang, openPlay, type Parts } from "./script.ts";

const task = (description: string, more: object = {}) => ({ description, prompt: `Do ${description}.`, ...more });
const giveTasks = (...tasks: object[]) => [call("task", { tasks })];

const getResults = (session: { messages: readonly { role: string }[] }): ToolResultMessage[] =>
  session.messages.filter((message) => message.role === "toolResult") as ToolResultMessage[];
const getText = ({ content }: ToolResultMessage): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

test("tasks run side by side, and the call answers when all have ended, each with what it did and used", async () => {
  const gate = createGate();
  let started = 0;
  const { session, prompt } = await openPlay({
    main: (step) => (step === 1 ? giveTasks(task("one"), task("two")) : [text("Done.")]),
    "1": async (step) => {
      if (step === 1) return [call("write", { path: "a.txt", content: "a" })];
      return [text("First answer.")];
    },
    // The second waits for the first to begin: they run at the same time.
    "2": async () => {
      started++;
      gate.open();
      return [text("Second answer.")];
    },
  });
  await prompt("go");
  await gate.opened;
  expect(started).toBe(1);
  const [result] = getResults(session);
  const [first, second] = getText(result!).split("\n\n");
  expect(first).toMatch(/^\[Task 1 \(one\): done · \d+ tokens · \d+ s · changed a\.txt\]\nFirst answer\.$/);
  expect(second).toMatch(/^\[Task 2 \(two\): done · .*\]\nSecond answer\.$/);
  expect(result).toMatchObject({ isError: false, details: { delivered: ["1", "2"] } });
});

test("a child knows its prompt only, and has the tools of its parent", async () => {
  const { model, prompt } = await openPlay({
    main: (step) => (step === 1 ? [call("task", task("look"))] : [text("Done.")]),
    "1": () => [text("Seen.")],
  });
  await prompt("the secret of the person");
  const request = model.asked.find(({ context }) => getAgentId(context) === "1")!.context;
  expect(JSON.stringify(request.messages)).toContain("Do look.");
  expect(JSON.stringify(request.messages)).not.toContain("secret");
  expect(request.tools!.map(({ name }) => name)).toEqual(model.asked[0]!.context.tools!.map(({ name }) => name));
});

test.each([
  ["no prompt", { description: "a" }, /`prompt` is missing/],
  ["no description", { prompt: "a" }, /`description` is missing/],
  ["one and several", { ...task("a"), tasks: [task("b")] }, /either one task, or several/],
  ["a bad one of several", { tasks: [task("a"), { description: "b" }] }, /Task 2: `prompt` is missing/],
  ["too many", { tasks: Array.from({ length: 101 }, () => task("a")) }, /101 tasks; a call may have 100/],
  ["an unknown task to resume", task("a", { resume: "7" }), /no task "7" to resume/],
])("%s is refused before anything starts", async (_name, args, problem) => {
  const { session, prompt, model } = await openPlay({
    main: (step) => (step === 1 ? [call("task", args as Record<string, unknown>)] : [text("Done.")]),
  });
  await prompt("go");
  const [result] = getResults(session);
  expect(result!.isError).toBe(true);
  expect(getText(result!)).toMatch(problem);
  expect(model.asked).toHaveLength(2);
});

test("an answer that does not fit its schema is sent back at most twice", async () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const { session, prompt, model } = await openPlay({
    main: (step) => (step === 1 ? giveTasks(task("good", { schema }), task("bad", { schema })) : [text("Done.")]),
    "1": (step) => [text(step === 1 ? '{"n":"x"}' : 'It is ```json\n{"n":1}\n```')],
    "2": () => [text("no")],
  });
  await prompt("go");
  const [good, bad] = getText(getResults(session)[0]!).split("\n\n");
  expect(good).toMatch(/done.*\n\{"n":1\}$/);
  expect(bad).toMatch(/^\[Task 2 \(bad\): failed.*\nSchema validation failed: The answer contains no JSON\./);
  expect(model.asked.filter(({ context }) => getAgentId(context) === "2")).toHaveLength(3);
});

test("a long answer is cut, and all of it is in a file that the parent may read", async () => {
  const long = Array.from({ length: 3_000 }, (_, index) => `line ${index}`).join("\n");
  let path = "";
  const { session, prompt } = await openPlay({
    main: (step, context) => {
      if (step === 1) return [call("task", task("flood"))];
      if (step > 2) return [text("Done.")];
      path = /All of it is in (\S+?)\]/.exec(getLastText(context))![1]!;
      return [call("read", { path, offset: 2_990 })];
    },
    "1": () => [text(long)],
  });
  await prompt("go");
  const [result, read] = getResults(session);
  expect(getText(result!).length).toBeLessThan(9_000);
  expect(getText(read!)).toContain("line 2999");
});

test("at most as many work at once as the setting says, and all end", async () => {
  let working = 0;
  let most = 0;
  const { session, prompt } = await openPlay(
    {
      main: (step) =>
        step === 1 ? giveTasks(...Array.from({ length: 12 }, (_, index) => task(String(index)))) : [text("Done.")],
      default: async () => {
        most = Math.max(most, ++working);
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        working--;
        return [text("ok")];
      },
    },
    { agents: { maxConcurrent: 3 } },
  );
  await prompt("go");
  expect(most).toBe(3);
  expect(getText(getResults(session)[0]!).match(/: done/g)).toHaveLength(12);
});

/** Each agent gives two tasks, as deep as it may. */
const spread: Parts = {
  default: (step, context) => {
    const mayDelegate = context.tools!.some(({ name }) => name === "task");
    return step === 1 && mayDelegate ? giveTasks(task("left"), task("right")) : [text(`end ${getAgentId(context)}`)];
  },
};

test("agents that wait for their own agents let those work: one slot is enough for a tree", async () => {
  const { session, prompt, model } = await openPlay(spread, { agents: { maxConcurrent: 1 } });
  await prompt("go");
  const ids = new Set(model.asked.map(({ context }) => getAgentId(context)));
  expect([...ids].toSorted()).toEqual(["1", "1.1", "1.2", "2", "2.1", "2.2", "main"]);
  expect(getText(getResults(session)[0]!)).toMatch(/end 1\n\n.*\nend 2$/s);
});

test("agents are as deep as the setting says, and the last have no tool for more", async () => {
  const { prompt, model } = await openPlay(spread, { agents: { maxDepth: 1 } });
  await prompt("go");
  expect(new Set(model.asked.map(({ context }) => getAgentId(context)))).toEqual(new Set(["main", "1", "2"]));
  const none = await openPlay(spread, { agents: { maxDepth: 0 } });
  await none.prompt("go");
  expect(getText(getResults(none.session)[0]!)).toMatch(/this one has no sub-agents/);
});

test("what agents use is part of what their parents used, and of the session's budget", async () => {
  const { session, prompt } = await openPlay(spread, { budgets: { turns: 5 } });
  const outcome = await prompt("go");
  expect(outcome).toMatchObject({ kind: "ran", end: { kind: "budget", limit: "turns" } });
  expect(session.budgetLeft.turns).toBe(0);
});

test("an abort of the run ends all of its agents", async () => {
  const { session, prompt, until } = await openPlay({
    main: () => giveTasks(task("a"), task("b")),
    default: (_step, _context, signal) => hang(signal),
  });
  const outcome = prompt("go");
  await until("tool_execution_start");
  await session.abort();
  expect(await outcome).toMatchObject({ kind: "ran", end: { kind: "aborted" } });
  expect(session.hasWork).toBe(false);
});
