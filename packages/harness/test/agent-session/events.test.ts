/** Tests the events of a run: turns, what was sent, and why calls and runs failed. */
import { call, createFakeClock, text } from "@tau/ai/testing";
import type { LifecycleEvent, SessionEvent } from "@tau/protocol";
import { expect, onTestFinished, test } from "vitest";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type DeskOptions, never, openDesk, sayTool, until } from "./desk.ts";

type Told<Type extends SessionEvent["type"]> = Extract<SessionEvent, { type: Type }>;

const getAll = <Type extends SessionEvent["type"]>(events: readonly SessionEvent[], type: Type): Told<Type>[] =>
  events.filter((event): event is Told<Type> => event.type === type);

const overloaded = { failure: { kind: "overloaded", message: "Come back later." } } as const;

/** A tool that never ends, and the number of its calls that have begun. */
function hanging() {
  const state = { started: 0 };
  const tool = { ...sayTool("hang"), execute: () => (state.started++, never<never>()) };
  return { tool, state };
}

test("an aborted turn says that nothing follows, and nothing does", async () => {
  const { tool, state } = hanging();
  const { session, events } = await openDesk([[call("hang")]], { customTools: [tool] });
  const done = session.prompt("Go.");
  await until(() => state.started === 1);
  await session.abort();
  await done;
  expect(getAll(events, "turn_start")).toHaveLength(1);
  expect(getAll(events, "message_start")).toHaveLength(1);
  expect(getAll(events, "turn_end")).toMatchObject([{ shouldContinue: false, terminationReason: "abort_signal" }]);
  expect(getAll(events, "agent_end")).toMatchObject([{ totalTurns: 1, terminationReason: "abort_signal" }]);
  expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
});

test("a retry belongs to its turn: it is neither told nor counted as another", async () => {
  const clock = createFakeClock();
  const { session, events } = await openDesk([overloaded, overloaded, [call("say")], [text("ok")]], {
    clock,
    customTools: [sayTool("say")],
  });
  const done = session.prompt("Go.");
  for (const count of [1, 2]) {
    await until(() => getAll(events, "retry_scheduled").length === count);
    await clock.advance(60_000);
  }
  await done;
  expect(getAll(events, "message_start")).toHaveLength(4);
  expect(getAll(events, "turn_start").map(({ turnIndex }) => turnIndex)).toEqual([0, 1]);
  expect(getAll(events, "turn_end").map(({ shouldContinue }) => shouldContinue)).toEqual([true, false]);
  expect(getAll(events, "agent_end")).toMatchObject([{ totalTurns: 2 }]);
});

test("a run that is aborted while it waits to retry ends its turn, and begins no other", async () => {
  const { session, events } = await openDesk([overloaded], { clock: createFakeClock() });
  const done = session.prompt("Go.");
  await until(() => getAll(events, "retry_scheduled").length === 1);
  await session.abort();
  await done;
  expect(getAll(events, "turn_start")).toHaveLength(1);
  expect(getAll(events, "turn_end")).toMatchObject([{ shouldContinue: false, terminationReason: "abort_signal" }]);
  expect(getAll(events, "agent_end")).toMatchObject([{ totalTurns: 1 }]);
});

test("the start of a turn counts the messages that are sent, and has them in process", async () => {
  const starts: Extract<LifecycleEvent, { type: "turn_start" }>[] = [];
  const desk = await openDesk([[call("say")], [text("one")], [text("two")]], {
    customTools: [sayTool("say")],
    onEvent: (event) => event.type === "turn_start" && starts.push(event),
  });
  await desk.session.prompt("First.");
  await desk.session.prompt("Second.");
  const sent = desk.model.asked.map(({ context }) => context.messages);
  expect(starts.map(({ messageCount }) => messageCount)).toEqual(sent.map(({ length }) => length));
  expect(starts.map(({ messages }) => messages?.map(({ role }) => role))).toEqual([
    ["user"],
    ["user", "assistant", "toolResult"],
    ["user", "assistant", "toolResult", "assistant", "user"],
  ]);
  const told = getAll(desk.events, "turn_start");
  expect(told.map(({ messageCount }) => messageCount)).toEqual([1, 3, 5]);
  expect(told.every((event) => !("messages" in event))).toBe(true);
});

test.each<[string, ReturnType<typeof call>, DeskOptions]>([
  ["denied", call("read", { path: "/etc/hostname" }), {}],
  [
    "denied",
    call("say"),
    { customTools: [sayTool("say")], decide: () => ({ kind: "deny", rule: "never", reason: "No." }) },
  ],
  ["unknown_tool", call("missing"), {}],
  ["invalid_arguments", call("read", { offset: 1 }), {}],
  ["timeout", call("bash", { command: "sleep 60", timeout: 0.05 }), {}],
  ["not_found", call("read", { path: "missing" }), {}],
  ["tool_failed", call("say"), { customTools: [sayTool("say", () => Promise.reject(new Error("No.")))] }],
])("a call that fails says why by the code %s", async (code, failing, options) => {
  const { session, events } = await openDesk([[failing], [text("ok")]], options);
  await session.prompt("Go.");
  expect(getAll(events, "tool_execution_end")).toMatchObject([{ success: false, error: { code } }]);
});

test("a call that was aborted says so, whether or not its tool has noticed", async () => {
  const { tool, state } = hanging();
  const bash = call("bash", { command: "sleep 60" });
  const { session, events } = await openDesk([[call("hang"), bash]], {
    customTools: [{ ...tool, executionMode: "parallel" }],
  });
  const done = session.prompt("Go.");
  await until(() => state.started === 1 && getAll(events, "tool_execution_start").length === 2);
  await session.abort();
  await done;
  expect(getAll(events, "tool_execution_end").map(({ error }) => error?.code)).toEqual(["aborted", "aborted"]);
});

test("a call that is aborted while a person is asked about it says aborted, not denied", async () => {
  const { session, events } = await openDesk([[call("read", { path: "/etc/hostname" })]], { ask: () => never() });
  const done = session.prompt("Go.");
  await until(() => getAll(events, "approval_requested").length === 1);
  await session.abort();
  await done;
  expect(getAll(events, "tool_execution_end").map(({ error }) => error?.code)).toEqual(["aborted"]);
});

test("an error says what failed, with which model, in which turn", async () => {
  const failure = { kind: "auth", message: "The key is wrong.", status: 401 } as const;
  const { session, events } = await openDesk([[call("say")], { failure }], { customTools: [sayTool("say")] });
  await session.prompt("Go.");
  const { provider, id } = session.model!;
  const context = { cause: "model", model: `${provider}/${id}`, turnIndex: 1, status: 401 };
  expect(getAll(events, "error")).toMatchObject([{ code: "auth", recoverable: false, context }]);
});

test("a branch that the model makes goes on from before its own call", async () => {
  const { session, events, engine } = await openDesk([[text("one")], [call("session_branch")], [text("two")]], {
    binding: { channel: "chat", tools: [] },
  });
  await session.prompt("First.");
  await session.prompt("Branch.");
  const [branched] = getAll(events, "session_branched");
  const branch = await session.sessionManager.loadSession(branched!.branchId);
  const roles = (await branch.getBranch()).flatMap((entry) => (entry.type === "message" ? [entry.message.role] : []));
  await branch.close();
  expect(roles).toEqual(["user", "assistant", "user"]);
  expect(engine.some((event) => event.type === "tool_execution_end" && event.isError)).toBe(false);
});

test("a session manager that is given takes the parent too, unless it has another or has been used", async () => {
  const parent = await openDesk([]);
  const parentSessionId = parent.session.sessionId;
  const open = async (sessionManager: SessionManager) => {
    const { session } = await openDesk([], { parentSessionId, sessionManager });
    return session.sessionManager.getHeader().parentId;
  };
  expect(await open(await SessionManager.inMemory())).toBe(parentSessionId);
  expect(await open(await SessionManager.inMemory(undefined, { parentId: "other" }))).toBe("other");
  const used = await SessionManager.inMemory();
  await used.appendSessionInfo("used");
  expect(await open(used)).toBeUndefined();
});

test("a listener that fails with each event causes one warning, and the run goes on", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const { session } = await openDesk([[text("Hello.")]]);
  session.onEvent(() => {
    throw new Error("cannot draw");
  });
  expect(await session.prompt("Hi")).toMatchObject({ terminationReason: "no_tool_calls" });
  await expect.poll(() => warnings.length).toBeGreaterThan(0);
  expect(warnings.map(({ message }) => message)).toEqual([
    `A listener of the session ${session.sessionId} failed: cannot draw`,
  ]);
});
