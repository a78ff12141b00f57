import { expect, test } from "vitest";
import type { NestedCall } from "../entry.ts";
import type { LiveTool } from "../view.ts";
import { EndedCalls } from "./nested-calls.ts";

const toEnded = (id: string, parentId: string, fields: Partial<NestedCall> = {}): NestedCall => ({
  toolCallId: id,
  toolName: "ls",
  parentToolCallId: parentId,
  input: { path: id },
  content: [],
  isError: false,
  ...fields,
});

const toRunning = (id: string, calls: LiveTool[] = []): LiveTool => ({
  id,
  name: "bash",
  input: { command: id },
  updates: [],
  progressPercent: undefined,
  calls,
});

function keep(...calls: NestedCall[]): EndedCalls {
  const ended = new EndedCalls();
  for (const call of calls) ended.add(call);
  return ended;
}

const draw = (rows: ReturnType<EndedCalls["list"]>) =>
  rows.map(({ name, subject, state, depth }) => `${"  ".repeat(depth)}${name} ${subject} ${state}`);

test("calls that have ended come first, each with its state and what it made below it, then those that are running", () => {
  const ended = keep(
    toEnded("a/1/2", "a/1", { isError: true, errorCode: "tool_failed" }),
    toEnded("a/1", "a"),
    toEnded("a/3", "a", { isError: true, errorCode: "denied" }),
    toEnded("a/4/5", "a/4"),
    toEnded("b/1", "b"),
  );
  const running = [toRunning("a/4", [toRunning("a/4/6")]), toRunning("a/7")];
  const open = { running, askedIds: new Set(["a/7"]) };
  expect(draw(ended.list("a", open))).toEqual([
    "ls a/1 done",
    "  ls a/1/2 failed",
    "ls a/3 denied",
    "bash a/4 running",
    "  ls a/4/5 done",
    "  bash a/4/6 running",
    "bash a/7 asked",
  ]);
});

test("a call that is in the log already is not shown as running too", () => {
  const open = { running: [toRunning("a/1")], askedIds: new Set<string>() };
  expect(draw(keep(toEnded("a/1", "a")).list("a", open))).toEqual(["ls a/1 done"]);
});

test("the rows of a call that has its result are not those of the next call with its id", () => {
  const ended = keep(toEnded("a/1/2", "a/1"), toEnded("a/1", "a"));
  expect(draw(ended.take("a"))).toEqual(["ls a/1 done", "  ls a/1/2 done"]);
  ended.add(toEnded("a/1", "a"));
  expect(draw(ended.take("a"))).toEqual(["ls a/1 done"]);
});

test("rows of older entries come before, also those below a call whose end came later", () => {
  const ended = keep(toEnded("a/2", "a"), toEnded("a/4", "a"));
  ended.addOlder(keep(toEnded("a/1", "a"), toEnded("a/2/3", "a/2")));
  expect(draw(ended.list("a"))).toEqual(["ls a/1 done", "ls a/2 done", "  ls a/2/3 done", "ls a/4 done"]);
});

test.each([
  ["a call below itself", [toEnded("a", "a"), toEnded("a", "a")]],
  ["two calls below each other", [toEnded("a", "b"), toEnded("b", "a"), toEnded("b", "a")]],
  [
    "a long chain",
    Array.from({ length: 20_000 }, (_, index) => toEnded(index === 0 ? "a" : `${index}`, `${index + 1}`)),
  ],
  ["no arguments", [toEnded("b", "a", { input: null as never })]],
])("a log of another program with %s is drawn", (_name, calls) => {
  for (const id of ["a", "20000"]) expect(keep(...calls).list(id).length).toBeLessThan(20);
});
