import { expect, test } from "vitest";
import type { PipelineTool } from "./layer.ts";
import { createTouches } from "./touches.ts";

const tool = (name: string, touches?: PipelineTool["touches"]): PipelineTool => ({
  name,
  label: name,
  description: "",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [] }),
  ...(touches && { touches }),
});

const call = (name: string, args: Record<string, unknown> = {}) => ({
  type: "toolCall" as const,
  id: "1",
  name,
  arguments: args,
});

const builtIn = { read: tool("read", ({ path }) => ({ read: [String(path)], modified: [] })) };

test("a tool that the session has says it, also one that has the name of a built-in one", () => {
  const current = [tool("read", () => ({ read: [], modified: ["mine"] })), tool("quiet")];
  const touches = createTouches({ current: () => current, builtIn });
  expect(touches(call("read", { path: "a" }))).toEqual({ read: [], modified: ["mine"] });
  expect(touches(call("quiet"))).toBeUndefined();
});

test("a built-in tool is known although the session does not have it, and nothing else is", () => {
  const touches = createTouches({ current: () => [], builtIn });
  expect(touches(call("read", { path: "a" }))).toEqual({ read: ["a"], modified: [] });
  expect(touches(call("gone"))).toBeUndefined();
  expect(touches(call("constructor"))).toBeUndefined();
});

test("a tool that throws at the arguments of an old log touched nothing", () => {
  const strict = tool("sync", ({ paths }) => ({ read: (paths as string[]).slice(), modified: [] }));
  const touches = createTouches({ current: () => [strict], builtIn });
  expect(touches(call("sync", { paths: ["a"] }))).toEqual({ read: ["a"], modified: [] });
  expect(touches(call("sync", { path: "a" }))).toBeUndefined();
});
