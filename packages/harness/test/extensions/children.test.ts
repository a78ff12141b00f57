/** Sessions that extensions start for work of their own. */
import { parse } from "node:path";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import type { ChildOptions, ChildSession, ExtensionAPI } from "@tau/extensions";
import type { Question } from "@tau/policy";
import { createTestSession, type TestSessionParams } from "../../src/testing/index.ts";
import type { TestTurn } from "../../src/testing/script.ts";
import { openDesk } from "../agent-session/desk.ts";

async function open(turns: readonly TestTurn[], params: TestSessionParams = {}) {
  let api!: ExtensionAPI;
  const opened = await createTestSession(turns, {
    ...params,
    extensions: { factories: [(tau) => void (api ??= tau)] },
  });
  onTestFinished(() => opened.dispose());
  return { ...opened, api };
}

const named: ChildOptions = { name: "explorer" };

test("a child answers, is a session of its own, and its cost is part of its parent's", async () => {
  const { api, session } = await open([[text("Found it.")]]);
  const child = await api.openChild(named);
  const types: string[] = [];
  child.onEvent(({ type }) => types.push(type));
  const outcome = await child.prompt("Look.");
  expect(outcome).toMatchObject({ kind: "done", text: "Found it." });
  expect(types).toContain("agent_end");
  expect(child.id).not.toBe(session.sessionId);
  expect(session.messages).toEqual([]);
  const { tokens } = await session.sessionManager.getTotals();
  expect(tokens.total).toBe(outcome.usage.totalTokens);
});

test("it has the model and the tools of its parent, or those that it was given", async () => {
  const { api, model } = await open([[text("One.")], [text("Two.")], [text("Three.")]]);
  await (await api.openChild(named)).prompt("a");
  await (await api.openChild({ ...named, tools: ["read", "grep"], systemPrompt: "Explore." })).prompt("b");
  const [first, second] = model.asked.map(({ context }) => context);
  expect(first!.tools!.map(({ name }) => name)).toContain("bash");
  expect(second!.tools!.map(({ name }) => name)).toEqual(["read", "grep"]);
  expect(second!.systemPrompt).toContain("Explore.");
});

test("a tool that its parent may not use is not there for it either", async () => {
  const { api, model } = await open([[text("One.")]], { allowedTools: ["read", "ls"] });
  await (await api.openChild({ ...named, tools: ["read", "bash", "*"] })).prompt("a");
  expect(model.asked[0]!.context.tools!.map(({ name }) => name)).toEqual(["read"]);
});

test("its budget is what its parent has left", async () => {
  const { api } = await open([[call("ls", {})], [text("Done.")]], { budgets: { turns: 1 } });
  const child = await api.openChild(named);
  expect(await child.prompt("a")).toMatchObject({ kind: "failed", reason: expect.stringMatching(/turn/) as string });
});

test("an abort of its parent ends its run, also if the parent has none, but the end of a compaction does not", async () => {
  const untilAborted = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve) => signal!.addEventListener("abort", () => resolve(), { once: true }));
  let isAsked = () => {};
  const asked = () => new Promise<void>((resolve) => (isAsked = resolve));
  const waiting: TestTurn = async (_context, { signal }) => {
    isAsked();
    await untilAborted(signal);
    return [text("Too late.")];
  };
  const { api, session, prompt } = await open([[text("x".repeat(4_000))], [text("y")], waiting, waiting], {
    settings: { compaction: { keepRecentTokens: 1 } },
  });
  await prompt("one");
  await prompt("two");
  const child = await api.openChild(named);
  let next = asked();
  const run = child.prompt("Work.");
  await next;
  next = asked();
  const compaction = session.compact();
  await next;
  await session.abort();
  expect(await compaction).toMatchObject({ kind: "aborted" });
  expect(await Promise.race([run, Promise.resolve("still running")])).toBe("still running");
  await session.abort();
  expect(await run).toMatchObject({ kind: "aborted" });
});

test("its questions are asked where its parent is shown, with its name", async () => {
  const outside = parse(process.cwd()).root;
  const questions: Question[] = [];
  let api!: ExtensionAPI;
  const { session } = await openDesk([[call("ls", { path: outside })], [text("Done.")]], {
    ask: async (question) => {
      questions.push(question);
      return { decision: "deny" };
    },
    extensions: { factories: [(tau) => void (api ??= tau)] },
  });
  const asked: string[] = [];
  session.onSessionEvent((event) => {
    if (event.type === "approval_requested") asked.push(event.approval.summary);
  });
  await (await api.openChild(named)).prompt("Look outside.");
  expect(questions.map(({ summary }) => summary)).toEqual([expect.stringMatching(/^explorer: /)]);
  expect(asked).toEqual(questions.map(({ summary }) => summary));
});

test("where nobody answers, its calls are denied", async () => {
  const outside = parse(process.cwd()).root;
  const { api } = await open([[call("ls", { path: outside })], [text("Done.")]]);
  const child = await api.openChild(named);
  const denied: string[] = [];
  child.onEvent((event) => {
    if (event.type === "tool_denied") denied.push(event.toolName);
  });
  await child.prompt("Look outside.");
  expect(denied).toEqual(["ls"]);
});

test("an abort ends its run, and it can be prompted again", async () => {
  const controller = new AbortController();
  const wait = {
    name: "wait",
    label: "Wait",
    description: "Wait for the end.",
    parameters: { type: "object", properties: {} },
    execute: async (_id: string, _args: unknown, signal?: AbortSignal) => {
      const aborted = new Promise<void>((resolve) =>
        signal!.addEventListener("abort", () => resolve(), { once: true }),
      );
      controller.abort();
      await aborted;
      return { content: [] };
    },
  };
  const { api } = await open([[call("wait", {})], [text("Again.")]], { customTools: [wait] });
  const child = await api.openChild(named);
  expect(await child.prompt("a", { signal: controller.signal })).toMatchObject({ kind: "aborted" });
  expect(await child.prompt("b")).toMatchObject({ kind: "done", text: "Again." });
});

test("it ends with its parent", async () => {
  const { api, session } = await open([]);
  const child: ChildSession = await api.openChild(named);
  await session.dispose();
  await expect(child.prompt("a")).rejects.toThrow(/closed|over/i);
});

test("a child can be continued by its id", async () => {
  const { api, model } = await open([[text("One.")], [text("Two.")]]);
  const child = await api.openChild(named);
  await child.prompt("first");
  await child.close();
  const again = await api.openChild({ ...named, sessionId: child.id });
  expect(await again.prompt("second")).toMatchObject({ kind: "done", text: "Two." });
  expect(JSON.stringify(model.asked[1]!.context.messages)).toContain("first");
});

test("tools can be left out for it and for its own children", async () => {
  const { api, model } = await open([[text("One.")]], { excludedTools: ["write"] });
  await (await api.openChild({ ...named, excludedTools: ["ba*"] })).prompt("a");
  const names = model.asked[0]!.context.tools!.map(({ name }) => name);
  expect(names).toContain("read");
  expect(names.filter((name) => name === "bash" || name === "write")).toEqual([]);
});

test("its outcome names the files that it changed, and its messages can be read", async () => {
  const failing = call("edit", { path: "none.txt", edits: [{ oldText: "a", newText: "b" }] });
  const { api } = await open([[call("write", { path: "a.txt", content: "a" }), failing], [text("Done.")]]);
  const child = await api.openChild(named);
  expect(await child.prompt("Write.")).toMatchObject({ kind: "done", filesChanged: ["a.txt"] });
  expect(child.getMessages().map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "toolResult",
    "assistant",
  ]);
});

test("a session has work as long as a child runs", async () => {
  let answer = () => {};
  const answering = new Promise<void>((resolve) => (answer = resolve));
  const { api, session } = await open([
    async () => {
      await answering;
      return [text("Done.")];
    },
  ]);
  const child = await api.openChild(named);
  expect(session.hasWork).toBe(false);
  const outcome = child.prompt("a");
  await expect.poll(() => session.hasWork).toBe(true);
  expect(session.isStreaming).toBe(false);
  answer();
  await outcome;
  expect(session.hasWork).toBe(false);
});

test("a kept text is a file that the model may read", async () => {
  const { api, prompt, session, model } = await open([]);
  const path = await api.keepText("the rest");
  model.add([call("read", { path: path! })], [text("Read.")]);
  await prompt("Read it.");
  expect(JSON.stringify(session.messages)).toContain("the rest");
});
