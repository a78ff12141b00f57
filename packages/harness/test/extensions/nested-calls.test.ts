/** Calls that tools make, in real sessions: on the path of the model's calls, with a parent, in the log and in the view. */
import { createAssistantMessage } from "@tau/ai/internal";
import { call, text } from "@tau/ai/testing";
import { emptyView, getNestedCall, reduce, type SessionEvent, type View } from "@tau/protocol";
import { Type } from "typebox";
import { expect, onTestFinished, test } from "vitest";
import type { ExtensionAPI, ExtensionFactory, ExtensionToolContext, ToolCallOutcome } from "@tau/extensions";
import { SessionManager } from "../../src/session/session-manager.ts";
import { createTestSession, type TestSession, type TestSessionParams } from "../../src/testing/index.ts";

type MakeCalls = (context: ExtensionToolContext, signal: AbortSignal | undefined) => unknown;

const registerTool = (tau: ExtensionAPI, name: string, execute: MakeCalls) =>
  tau.registerTool({
    name,
    label: name,
    description: "",
    parameters: Type.Object({ value: Type.Optional(Type.String()) }),
    async execute(_id, _params, signal, _onUpdate, context) {
      const result = await execute(context, signal);
      return { content: [text(typeof result === "string" ? result : "done")], details: {} };
    },
  });

/** A session whose model calls the tool `outer` once. */
async function openOuter(makeCalls: MakeCalls, extend: ExtensionFactory = () => {}, params: TestSessionParams = {}) {
  const factory: ExtensionFactory = (tau) => {
    registerTool(tau, "outer", makeCalls);
    return extend(tau);
  };
  const opened = await createTestSession([[call("outer", {}, "call-1")], [text("Done.")]], {
    ...params,
    extensions: { factories: [factory] },
  });
  onTestFinished(() => opened.dispose());
  return opened;
}

const listNested = async ({ session }: TestSession) =>
  (await session.sessionManager.getEntries()).flatMap((entry) => getNestedCall(entry) ?? []);

const listStarts = async ({ session }: TestSession) =>
  (await session.sessionManager.getEntries()).flatMap((entry) =>
    entry.type === "custom" && entry.customType === "tau.call_started" ? [entry.data] : [],
  );

const isCallEvent = (event: SessionEvent): event is Extract<SessionEvent, { type: `tool_execution_${string}` }> =>
  event.type.startsWith("tool_execution_");

const listCallEvents = ({ events }: TestSession) =>
  events.filter(isCallEvent).map(({ type, toolCallId, parentToolCallId = "" }) => [type, toolCallId, parentToolCallId]);

test("a nested call has its own start, outcome and events, with its parent", async () => {
  const seen: unknown[] = [];
  const opened = await openOuter(
    (context) => context.executeTool("ls", {}),
    (tau) => {
      for (const name of ["tool_execution_start", "tool_call", "tool_result", "tool_execution_end"] as const)
        tau.on(name as "tool_call", ({ type, toolName, parentToolCallId }) => {
          seen.push([type, toolName, parentToolCallId]);
        });
    },
    { files: { "x.txt": "" } },
  );
  await opened.prompt("go");
  const id = "call-1/1";
  expect(listCallEvents(opened)).toEqual([
    ["tool_execution_start", "call-1", ""],
    ["tool_execution_start", id, "call-1"],
    ["tool_execution_end", id, "call-1"],
    ["tool_execution_end", "call-1", ""],
  ]);
  const nested = ["tool_execution_start", "tool_call", "tool_result", "tool_execution_end"].map((type) => [
    type,
    "ls",
    "call-1",
  ]);
  expect(seen.filter((event) => (event as string[])[1] === "ls")).toEqual(nested);
  expect(await listStarts(opened)).toEqual([
    { toolCallId: "call-1", toolName: "outer" },
    { toolCallId: id, toolName: "ls", parentToolCallId: "call-1" },
  ]);
  expect(await listNested(opened)).toMatchObject([
    { toolCallId: id, toolName: "ls", parentToolCallId: "call-1", input: {}, content: [text("x.txt")], isError: false },
  ]);
  // The model is sent only the call that it made.
  expect(JSON.stringify(opened.model.asked[1]!.context.messages)).not.toContain(id);
});

test("while it runs, a nested call is shown under its parent", async () => {
  const views: View[] = [];
  const opened = await openOuter(
    (context) => context.executeTool("inner", { value: "x" }),
    (tau) => registerTool(tau, "inner", () => views.push(opened.events.reduce(reduce, emptyView))),
  );
  await opened.prompt("go");
  expect(views[0]!.live.tools).toMatchObject([
    { id: "call-1", calls: [{ id: "call-1/1", name: "inner", input: { value: "x" }, calls: [] }] },
  ]);
  expect(opened.events.reduce(reduce, emptyView).live.tools).toEqual([]);
});

test("what a nested call returns is limited like a result for the model, and what it does not is kept", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const opened = await openOuter(
    async (context) => outcomes.push(await context.executeTool("inner", {})),
    (tau) => registerTool(tau, "inner", () => "x".repeat(1_000_000)),
  );
  await opened.prompt("go");
  const [outcome] = outcomes;
  const length = (outcome!.result.content as { text: string }[]).reduce((sum, block) => sum + block.text.length, 0);
  expect(length).toBeLessThan(500_000);
  expect(JSON.stringify(outcome!.result.content)).toContain("characters were left out here");
  expect(await listNested(opened)).toMatchObject([{ content: outcome!.result.content }]);
});

test("a nested call that is denied is reported, has an outcome, and was not started", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const opened = await openOuter(async (context) =>
    outcomes.push(await context.executeTool("read", { path: "/etc/shadow" })),
  );
  await opened.prompt("go");
  expect(outcomes).toMatchObject([{ isError: true, errorCode: "denied" }]);
  expect(opened.events.filter(({ type }) => type === "tool_denied")).toMatchObject([
    { toolCallId: "call-1/1", toolName: "read" },
  ]);
  expect(await listStarts(opened)).toMatchObject([{ toolCallId: "call-1" }]);
  expect(await listNested(opened)).toMatchObject([
    { toolCallId: "call-1/1", input: { path: "/etc/shadow" }, isError: true, errorCode: "denied" },
  ]);
});

test("a nested call that its tool leaves running is aborted with it, and ends before it", async () => {
  let late: ExtensionToolContext | undefined;
  let onRunning = () => {};
  const isRunning = new Promise<void>((resolve) => (onRunning = resolve));
  const opened = await openOuter(
    async (context) => {
      late = context;
      void context.executeTool("inner", {});
      await isRunning;
    },
    (tau) =>
      registerTool(tau, "inner", async (_context, signal) => {
        onRunning();
        await new Promise((resolve) => signal!.addEventListener("abort", resolve));
        throw new Error("It was stopped.");
      }),
  );
  await opened.prompt("go");
  expect(
    listCallEvents(opened)
      .map(([type, id]) => [type, id])
      .slice(-2),
  ).toEqual([
    ["tool_execution_end", "call-1/1"],
    ["tool_execution_end", "call-1"],
  ]);
  expect(await listNested(opened)).toMatchObject([{ isError: true, errorCode: "aborted" }]);
  expect(await late!.executeTool("ls", {})).toMatchObject({ isError: true, errorCode: "aborted" });
  expect(await listNested(opened)).toHaveLength(1);
});

test("an abort of the run ends a call in a call in a call, each with one outcome", async () => {
  const opened = await openOuter(
    (context) => context.executeTool("middle", {}),
    (tau) => {
      registerTool(tau, "middle", (context) => context.executeTool("inner", {}));
      registerTool(tau, "inner", async (_context, signal) => {
        const isAborted = new Promise((resolve) => signal!.addEventListener("abort", resolve));
        void opened.session.abort();
        await isAborted;
        throw new Error("It was stopped.");
      });
    },
  );
  await opened.prompt("go");
  expect(listCallEvents(opened).map(([type, id, parent]) => `${type} ${id} in ${parent}`)).toEqual([
    "tool_execution_start call-1 in ",
    "tool_execution_start call-1/1 in call-1",
    "tool_execution_start call-1/1/2 in call-1/1",
    "tool_execution_end call-1/1/2 in call-1/1",
    "tool_execution_end call-1/1 in call-1",
    "tool_execution_end call-1 in ",
  ]);
  expect((await listNested(opened)).map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual([
    ["call-1/1/2", true],
    ["call-1/1", false],
  ]);
});

test("handlers of extensions cannot change what the log and the caller have", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const opened = await openOuter(
    async (context) => outcomes.push(await context.executeTool("inner", {})),
    (tau) => {
      registerTool(tau, "inner", () => "as it was");
      tau.on("tool_execution_end", ({ result }) => void (result.content[0] = text("changed")));
      tau.on("tool_result", ({ content }) => void (content[0] = text("changed")));
    },
  );
  await opened.prompt("go");
  expect(outcomes[0]!.result.content).toEqual([text("as it was")]);
  expect(await listNested(opened)).toMatchObject([{ content: [text("as it was")] }]);
});

test("a handler may wait for a nested call", async () => {
  const outcomes: ToolCallOutcome[] = [];
  const opened = await openOuter(
    () => "done",
    (tau) => {
      let context: ExtensionToolContext | undefined;
      tau.registerTool({
        name: "reporting",
        label: "",
        description: "",
        parameters: Type.Object({}),
        async execute(_id, _params, _signal, onUpdate, own) {
          context = own;
          onUpdate?.({ content: [text("so far")] });
          await expect.poll(() => outcomes.length).toBe(1);
          return { content: [text("done")] };
        },
      });
      tau.on("tool_execution_update", async () => void outcomes.push(await context!.executeTool("ls", {})));
    },
  );
  opened.model.add([call("reporting", {}, "call-2")], [text("Done.")]);
  await opened.prompt("go");
  await opened.prompt("again");
  expect(outcomes).toMatchObject([{ isError: false }]);
});

test("after a crash the outcome of a nested call that had started is unknown, and is recorded once", async () => {
  const directory = await SessionManager.inMemory("/w");
  await directory.appendMessage({ role: "user", content: "go", timestamp: 1 });
  const answer = createAssistantMessage({ api: "scripted", provider: "scripted", id: "scripted" }, 1);
  await directory.appendMessage({ ...answer, content: [call("outer", {}, "call-1")], stopReason: "toolUse" });
  await directory.appendCallStarted("call-1", "outer");
  for (const id of ["call-1/1", "call-1/2"]) await directory.appendCallStarted(id, "bash", "call-1");
  const finished = { toolCallId: "call-1/1", toolName: "bash", parentToolCallId: "call-1", input: {} };
  await directory.appendNestedCall({ ...finished, content: [text("ran")], isError: false });
  await directory.settleUnfinishedCalls();
  await directory.settleUnfinishedCalls();
  const entries = await directory.getEntries();
  expect(entries.flatMap((entry) => getNestedCall(entry) ?? [])).toMatchObject([
    { toolCallId: "call-1/1", isError: false },
    { toolCallId: "call-1/2", toolName: "bash", parentToolCallId: "call-1", details: { outcome: "unknown" } },
  ]);
  const results = entries.filter((entry) => entry.type === "message" && entry.message.role === "toolResult");
  expect(results).toHaveLength(1);
});
