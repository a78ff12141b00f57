/** Requests that tools of extensions make by themselves: their cost, and the data of results. */
import type { Usage } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import type { ExtensionAPI, ExtensionFactory, ExtensionToolContext } from "@tau/extensions";
import { createTestSession, type TestSessionParams } from "../../src/testing/index.ts";

const createUsage = (tokens: number, dollars: number): Usage => ({
  input: tokens,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: tokens,
  cost: { input: dollars, output: 0, cacheRead: 0, cacheWrite: 0, total: dollars },
});

const registerTool = (
  tau: ExtensionAPI,
  name: string,
  usage: Usage,
  work = async (_context: ExtensionToolContext) => {},
) =>
  tau.registerTool({
    name,
    label: name,
    description: "",
    parameters: { type: "object", properties: {} },
    async execute(_id, _params, _signal, _onUpdate, context) {
      await work(context);
      return { content: [text(name)], details: {}, usage };
    },
  });

async function open(factory: ExtensionFactory, params: TestSessionParams = {}) {
  const turns = [[call("asks", {}, "call-1")], [text("Done.")]];
  const opened = await createTestSession(turns, { ...params, extensions: { factories: [factory] } });
  onTestFinished(() => opened.dispose());
  return opened;
}

const findResult = ({ session }: Awaited<ReturnType<typeof open>>) =>
  session.messages.find((message) => message.role === "toolResult");

test("it is part of the result, the totals and the run, with that of calls inside the call", async () => {
  const seen: unknown[] = [];
  const opened = await open((tau) => {
    registerTool(tau, "inner", createUsage(10, 0.5));
    registerTool(tau, "asks", createUsage(1_000, 2), async (context) => void (await context.executeTool("inner", {})));
    tau.on("tool_result", ({ toolName, usage }) => void seen.push([toolName, usage?.totalTokens]));
  });
  await opened.prompt("go");
  expect(findResult(opened)).toMatchObject({ usage: { totalTokens: 1_010, cost: { total: 2.5 } } });
  expect(seen).toEqual([
    ["inner", 10],
    ["asks", 1_010],
  ]);
  const { cost, tokens } = await opened.session.sessionManager.getTotals();
  const answers = opened.session.messages.flatMap((message) => (message.role === "assistant" ? [message.usage] : []));
  expect(cost - answers.reduce((sum, answer) => sum + answer.cost.total, 0)).toBeCloseTo(2.5, 6);
  expect(tokens.total - answers.reduce((sum, answer) => sum + answer.totalTokens, 0)).toBe(1_010);
});

test("a handler replaces it", async () => {
  const opened = await open((tau) => {
    registerTool(tau, "asks", createUsage(1_000, 2));
    tau.on("tool_result", () => ({ usage: createUsage(7, 0.25) }));
  });
  await opened.prompt("go");
  expect(findResult(opened)).toMatchObject({ usage: { totalTokens: 7, cost: { total: 0.25 } } });
});

test("it spends the budget", async () => {
  const opened = await open((tau) => registerTool(tau, "asks", createUsage(1_000, 2)), { budgets: { cost: 1 } });
  expect(await opened.prompt("go")).toMatchObject({ end: { kind: "budget", limit: "cost" } });
});

test("data of a result is seen and replaced by handlers, and removed with the content that it belongs to", async () => {
  const seen: unknown[] = [];
  const outcomes: unknown[] = [];
  const register = (tau: ExtensionAPI, name: string) =>
    tau.registerTool({
      name,
      label: name,
      description: "",
      parameters: { type: "object", properties: {} },
      execute: async () => ({ content: [text(name)], details: {}, structuredContent: { of: name } }),
    });
  const opened = await open((tau) => {
    for (const name of ["kept", "changed", "removed"]) register(tau, name);
    registerTool(tau, "asks", createUsage(1, 0), async (context) => {
      for (const name of ["kept", "changed", "removed"]) {
        const { result } = await context.executeTool(name, {});
        outcomes.push(result.structuredContent);
      }
    });
    tau.on("tool_result", ({ toolName, structuredContent }) => {
      seen.push(structuredContent);
      if (toolName === "changed") return { content: [text("new")], structuredContent: { of: "handler" } };
      return toolName === "removed" ? { content: [text("new")] } : undefined;
    });
  });
  await opened.prompt("go");
  expect(seen).toEqual([{ of: "kept" }, { of: "changed" }, { of: "removed" }, undefined]);
  expect(outcomes).toEqual([{ of: "kept" }, { of: "handler" }, undefined]);
});
