import { customTypes, emptyView, type SessionEntry } from "@tau/protocol";
import { expect, test } from "vitest";
import { getCallStatus } from "./describe-call.ts";
import { type Item, ItemBuilder } from "./items.ts";
import { joinEntries } from "./join-entries.ts";

const timestamp = "2026-01-01T00:00:00.000Z";
let lastId = 0;

const entry = (fields: object, parentId: string | null = `e${lastId}`): SessionEntry =>
  ({ id: `e${++lastId}`, parentId, timestamp, ...fields }) as SessionEntry;

const message = (fields: object): SessionEntry => entry({ type: "message", message: { timestamp: 1, ...fields } });

const answer = (...content: object[]) => message({ role: "assistant", content, stopReason: "stop" });
const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls\npwd" } };
const result = message({ role: "toolResult", toolCallId: "c1", toolName: "bash", content: [], isError: false });

test("a call is shown with its result, in the place of the call", () => {
  const entries = [message({ role: "user", content: "Hi" }), answer({ type: "text", text: "Well" }, call), result];
  const items = new ItemBuilder().build(entries, emptyView.live);
  expect(items.map(({ kind }) => kind)).toEqual(["user", "answer", "call"]);
  expect(items[2]).toMatchObject({ call: { result: { toolCallId: "c1" } } });
});

test("a call that was denied says so, also when only the log knows", () => {
  const data = { toolCallId: "c1", outcome: "denied", reason: "No." };
  const decision = entry({ type: "custom", customType: customTypes.decision, data });
  const [item] = new ItemBuilder().build([answer(call), decision, result], emptyView.live);
  if (item?.kind !== "call") throw new Error("There is no call.");
  expect([item.call.denied, getCallStatus(item.call)]).toEqual(["No.", "denied"]);
});

test("a run that the end of the gateway cut is told, and any other end is not", () => {
  const entries = [message({ role: "user", content: "Hi" })];
  const build = (reason: "gateway_disconnected" | "abort_signal") =>
    new ItemBuilder().build(entries, { ...emptyView.live, ended: { reason, detail: undefined } });
  expect(build("gateway_disconnected").at(-1)).toMatchObject({
    kind: "note",
    text: expect.stringContaining("was cut"),
  });
  expect(build("abort_signal").at(-1)).toMatchObject({ kind: "user" });
});

test("another model or key that is used is a note with the reason, and data that is not whole is nothing", () => {
  const use = { provider: "p", modelId: "m", thinkingLevel: "off", cause: "fallback", reason: "p/m is used instead." };
  const user = message({ role: "user", content: "Hi" });
  const build = (data: unknown) =>
    new ItemBuilder().build([user, entry({ type: "custom", customType: customTypes.modelUsed, data })], emptyView.live);
  expect(build(use).slice(1)).toMatchObject([{ kind: "note", text: "p/m is used instead." }]);
  for (const data of [{ ...use, reason: 1 }, null, "text"]) expect(build(data)).toHaveLength(1);
});

test("items that did not change stay the same objects", () => {
  const builder = new ItemBuilder();
  const entries = [message({ role: "user", content: "Hi" }), answer(call), result];
  const live = { id: "m", model: "x", text: "a", thinking: "", calls: [] };
  const before = builder.build(entries, { ...emptyView.live, message: live });
  const more = [...entries, answer({ type: "text", text: "More" })];
  const after = builder.build(more, { ...emptyView.live, message: { ...live, text: "ab" } });
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
  expect(after.at(-1)).not.toBe(before.at(-1));
});

test("an answer that is complete keeps the keys that it had while it arrived, with its calls", () => {
  const builder = new ItemBuilder();
  const calls = [call, call].map(({ id, name }) => ({ id, name, arguments: "" }));
  const live = { ...emptyView.live, message: { id: "m", model: "x", text: "a", thinking: "", calls } };
  const before = builder.build([], live);
  const entries = [answer({ type: "text", text: "a" }, call, { ...call })];
  builder.takeLogged(entries[0]!.id);
  const after = builder.build(entries, emptyView.live);
  expect(after.map(({ kind }) => kind)).toEqual(["answer", "call", "call"]);
  expect(after.map(({ key }) => key)).toEqual(before.map(({ key }) => key));
  expect(new Set(after.map(({ key }) => key)).size).toBe(3);
});

test("what is said of a call is about the last one with its id", () => {
  const data = { toolCallId: "c1", outcome: "denied", reason: "No." };
  const decision = entry({ type: "custom", customType: customTypes.decision, data });
  const failed = message({ role: "toolResult", toolCallId: "c1", toolName: "bash", content: [], isError: true });
  const [first, second, twice] = [answer(call), answer({ ...call }), answer({ ...call }, { ...call })];
  const approvals = [{ toolCallId: "c1" }] as unknown as (typeof emptyView.live)["approvals"];
  const entries = [first, result, second, decision, failed, twice, result];
  const items = new ItemBuilder().build(entries, { ...emptyView.live, approvals });
  const states = items.map((item) => (item.kind === "call" ? getCallStatus(item.call) : item.kind));
  expect(states).toEqual(["done", "denied", "done", "asked"]);
});

test("what was loaded before stays when the window moves on, unless the branch is another one", () => {
  const [a, b, c, d] = [1, 2, 3, 4].map((index) => message({ role: "user", content: String(index) }));
  const loaded = { entries: [a!, b!, c!], hasOlder: false };
  expect(joinEntries(loaded, { entries: [b!, c!, d!], hasOlder: true })).toEqual({
    entries: [a, b, c, d],
    hasOlder: false,
  });
  expect(joinEntries(loaded, { entries: [d!], hasOlder: true })).toEqual({ entries: [a, b, c, d], hasOlder: false });
  expect(joinEntries(loaded, { entries: [b!, c!], hasOlder: true })).toBe(loaded);
  const other = entry({ type: "message", message: { role: "user", content: "x", timestamp: 1 } }, null);
  expect(joinEntries(loaded, { entries: [other], hasOlder: false })).toEqual({ entries: [other], hasOlder: false });
  expect(joinEntries(loaded, { entries: [a!], hasOlder: false })).toEqual({ entries: [a], hasOlder: false });
});

test("an answer that failed is shown once, and not at all while or after it is asked for again", () => {
  const hello = message({ role: "user", content: "Hi" });
  const failed = message({ role: "assistant", content: [], stopReason: "error", errorMessage: "Busy." });
  const edit = entry({ type: "context_edit", targetId: failed.id, replacement: null });
  const run = { model: "m", turnIndex: 0 };
  const retry = { attempt: 4, delayMs: 8_000, reason: "Busy." };
  const error = { code: "overloaded", message: "Busy.", recoverable: true };
  const build = (entries: SessionEntry[], live: object) =>
    new ItemBuilder()
      .build(entries, { ...emptyView.live, ...live })
      .map((item) => ("text" in item ? item.text : item.kind));
  expect(build([hello, failed], { run, retry })).toEqual(["user", "Trying again in 8 s (attempt 4): Busy."]);
  expect(build([hello, failed, edit, answer({ type: "text", text: "Yes" })], {})).toEqual(["user", "answer"]);
  expect(build([hello, failed], { error })).toEqual(["user", "answer"]);
  expect(build([hello], { error })).toEqual(["user", "Busy."]);
});

test("the calls that a tool made are with its call, running or ended, and only a change makes a new item", () => {
  const builder = new ItemBuilder();
  const nest = (id: string) =>
    entry({
      type: "custom",
      customType: customTypes.nestedCall,
      data: { toolCallId: id, toolName: "ls", parentToolCallId: "c1", input: {}, content: [], isError: false },
    });
  const nestedRunning = { id: "c1/2", name: "ls", input: {}, updates: [], progressPercent: undefined, calls: [] };
  const tool = { ...nestedRunning, id: "c1", calls: [nestedRunning] };
  const running = { ...emptyView.live, tools: [tool] };
  const entries = [answer(call), nest("c1/1")];
  const getRows = (item: Item | undefined) =>
    item?.kind === "call" ? item.call.nested.map(({ id, state }) => `${id} ${state}`) : [];
  expect(getRows(builder.build(entries, running)[0])).toEqual(["c1/1 done", "c1/2 running"]);
  // The log has its end before the event is there.
  const logged = [...entries, nest("c1/2")];
  expect(getRows(builder.build(logged, running)[0])).toEqual(["c1/1 done", "c1/2 done"]);
  const ended = [...logged, result];
  const [before] = builder.build(ended, emptyView.live);
  expect(getRows(before)).toEqual(["c1/1 done", "c1/2 done"]);
  const again = { ...call };
  const [after, next] = builder.build([...ended, answer(again)], running);
  expect(after).toBe(before);
  expect(getRows(next)).toEqual(["c1/2 running"]);
});
