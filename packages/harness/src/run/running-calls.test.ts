import type { NestedCallOptions, RunningToolCall, ToolCallOutcome } from "@tau/agent";
import { expect, test } from "vitest";
import { RunningCalls } from "./running-calls.ts";

const done: ToolCallOutcome = { result: { content: [] }, isError: false };

const createRunning = (
  toolCallId: string,
  onCall: (options: NestedCallOptions) => Promise<unknown> | unknown = () => {},
): RunningToolCall => ({
  toolCallId,
  toolName: "tool",
  hasEnded: false,
  async callTool(_name, _args, options = {}) {
    await onCall(options);
    return done;
  },
});

test("who makes a call is named for it and for every call that is made inside it", async () => {
  const calls = new RunningCalls();
  const begun: string[] = [];
  calls.add(
    createRunning("a", async ({ id }) => {
      calls.add(createRunning(id!));
      await calls.callTool(id!, "inner", {}, { tools: [] });
    }),
  );
  await calls.callTool("a", "middle", {}, { tools: [], onBegin: (id) => begun.push(id) });
  expect(begun).toEqual(["a/1", "a/1/2"]);
  await calls.callTool("a", "middle", {}, { tools: [] });
  expect(begun).toHaveLength(2);
});

test("of two calls with one id the last that has not ended makes the call", async () => {
  const calls = new RunningCalls();
  const made: string[] = [];
  calls.add(createRunning("a", () => made.push("first")));
  calls.add({ ...createRunning("a", () => made.push("second")), hasEnded: true });
  await calls.callTool("a", "inner", {}, { tools: [] });
  expect(made).toEqual(["first"]);
});

test("a call whose parent is not running is not executed", async () => {
  expect(await new RunningCalls().callTool("a", "inner", {}, { tools: [] })).toMatchObject({
    isError: true,
    errorCode: "aborted",
  });
});
