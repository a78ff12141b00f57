import { expect, expectTypeOf, test } from "vitest";
import type { Extension, LifecycleHook, LifecycleHooks, Tool, ToolContext } from "../index.ts";
import { toFactory } from "./object-form.ts";

interface CountParams {
  path: string;
}

interface CountResult {
  lines: number;
}

const count: Tool<CountParams, CountResult> = {
  name: "count",
  description: "Count the lines of a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  onLoad: (context: ToolContext) => context.registerConfig({ unit: { type: "string", default: "lines" } }),
  async beforeInvoke(params) {
    expectTypeOf(params).toEqualTypeOf<CountParams>();
  },
  async execute(params, context): Promise<CountResult> {
    return { lines: params.path.length + String(context.getConfig("unit")).length };
  },
  async afterInvoke(result, context) {
    context.getLog().info(`${result.lines}`);
  },
};

test("an extension that is an object is written with the types by their names", () => {
  const onAgentStart: LifecycleHook = async () => undefined;
  const onToolCall: LifecycleHook<"onToolCall"> = async (toolName, params, result) => void [toolName, params, result];
  const extension: Extension = {
    name: "counting",
    version: "1.0.0",
    tools: [count],
    hooks: {
      onAgentStart,
      onToolCall,
      onAgentEnd: async () => undefined,
    } satisfies Partial<LifecycleHooks>,
    dependencies: [],
    capabilities: ["fs:read", "crypto"],
  };
  expect(toFactory(extension, () => {})).toBeTypeOf("function");
});
