/** Kernels of a session and of its children, and the models that cells ask. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "@tau/ai";
import { call, text } from "@tau/ai/testing";
import type { ExtensionFactory } from "@tau/extensions";
import { expect, test } from "vitest";
import { agents, codemode } from "../../src/index.ts";
import { openKernels } from "./kit.ts";

const getResults = ({ messages }: Context): string[] =>
  messages.flatMap((message) =>
    message.role === "toolResult"
      ? [message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")]
      : [],
  );

test("children have their own kernels, and do not reach those of their parent", async () => {
  const { run, model, prompt, cwd } = await openKernels({ features: [agents()] });
  await run(
    "javascript",
    `var secret = "of the parent";
agentBridge.registerTool("save", async () => { await tool.write({ path: "saved.txt", content: "x" }); return "saved"; })`,
  );
  const evaluate = (code: string) => call("call_tool", { name: "eval", arguments: { language: "javascript", code } });
  model.add(
    [call("task", { description: "Look", prompt: "Look around." })],
    [call("call_tool", { name: "kernel__save", arguments: {} })],
    [evaluate("typeof secret")],
    [evaluate("await tool.kernel__save({}).catch((error) => error.kind)")],
    [text("Nothing there.")],
    [text("Done.")],
  );
  await prompt("go");
  const results = getResults(model.asked.at(-2)!.context);
  expect(results).toHaveLength(3);
  expect(results[0]).toMatch(/kernel__save/);
  expect(results[0]).not.toContain("saved");
  expect(results[1]).toContain("'undefined'");
  expect(results[2]).toMatch(/unknown_tool/);
  expect(existsSync(join(cwd, "saved.txt"))).toBe(false);
  expect((await run("javascript", "secret")).details.value).toBe("of the parent");
});

test("a sub-agent that may only read writes nothing, with cells or otherwise", async () => {
  const { run, model, prompt, cwd } = await openKernels({ features: [agents()] });
  await run("javascript", `agentBridge.registerTool("save", () => require("fs").writeFileSync("saved.txt", ""))`);
  const evaluate = (code: string) => call("call_tool", { name: "eval", arguments: { language: "javascript", code } });
  model.add(
    [call("task", { description: "Look", prompt: "Look around.", agent: "explore" })],
    [evaluate('require("fs").writeFileSync("saved.txt", "")')],
    [call("call_tool", { name: "kernel__save", arguments: {} })],
    [text("Nothing there.")],
    [text("Done.")],
  );
  await prompt("go");
  expect(getResults(model.asked.at(-2)!.context)).toHaveLength(2);
  expect(existsSync(join(cwd, "saved.txt"))).toBe(false);
});

test("in plan mode neither cells nor tools of kernels run, also from a script", async () => {
  const { run, callTool, session, cwd } = await openKernels({
    features: [codemode()],
    defaultTools: ["+codemode"],
  } as Parameters<typeof openKernels>[0]);
  await run("javascript", `agentBridge.registerTool("save", () => require("fs").writeFileSync("saved.txt", ""))`);
  await session.setPermissionMode("plan");
  const write = 'require("fs").writeFileSync("saved.txt", "")';
  expect((await run("javascript", write)).text).toContain("plan mode");
  expect((await callTool("call_tool", { name: "kernel__save", arguments: {} })).isError).toBe(true);
  const code = `return [typeof tools.eval, await tools.kernel__save?.({}).then(() => "ran", (error) => error.message)]`;
  expect((await callTool("codemode", { code })).text).not.toContain('"ran"');
  expect(existsSync(join(cwd, "saved.txt"))).toBe(false);
  await session.setPermissionMode("edit");
  expect((await callTool("codemode", { code })).text).toContain('["undefined","ran"]');
  expect(existsSync(join(cwd, "saved.txt"))).toBe(true);
});

test("tools of extensions are reached, with their structured results, and failures have a kind", async () => {
  const extension: ExtensionFactory = (tau) => {
    tau.registerTool({
      name: "measure",
      label: "Measure",
      description: "Measures.",
      parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      execute: async (_id, { n }) => {
        if (n < 0) throw new Error("It is too small.");
        return { content: [{ type: "text", text: "ok" }], details: { structured: { twice: 2 * n } } };
      },
    });
  };
  const { run } = await openKernels({ extensions: { factories: [extension] } });
  const cell = await run(
    "javascript",
    `[await tool.measure({ n: 4 }), ...(await Promise.all([tool.measure({ n: -1 }), tool.measure({ n: "x" })].map((each) => each.catch((error) => [error.kind, error.name]))))]`,
  );
  expect(cell.details.value, cell.text).toEqual([
    { twice: 8 },
    ["failed", "KernelError"],
    ["invalid_arguments", "KernelError"],
  ]);
});

test("a completion is paid from the budget, and one that does not fit its schema fails", async () => {
  const { model, prompt, session } = await openKernels({ budgets: { tokens: 200_000 } });
  const ask = `const ask = (options) => completion("n", options).catch((error) => error.message);
[await ask({ schema: { type: "object", required: ["n"] } }), await ask({}), await ask({})]`;
  model.add(
    [call("call_tool", { name: "eval", arguments: { language: "javascript", code: ask } })],
    [text("no JSON")],
    { content: [text("expensive")], usage: { input: 1_000_000, output: 1 } },
  );
  await prompt("go");
  const result = session.messages.findLast((message) => message.role === "toolResult")!;
  const { value } = result.details as { value: string[] };
  expect(value?.[0], JSON.stringify(result.content)).toMatch(/JSON/);
  expect(value.slice(1)).toEqual(["expensive", expect.stringContaining("budget")]);
  // The run cannot go on either.
  expect(model.asked).toHaveLength(3);
  const { tokens } = await session.sessionManager.getTotals();
  expect(tokens.total).toBeGreaterThan(1_000_000);
  const spent = (await session.sessionManager.getEntries()).flatMap((entry) => (entry.type === "usage" ? [entry] : []));
  expect(spent.at(-1)).toMatchObject({ kind: "extension", usage: { input: 1_000_000, output: 1 } });
});

test("a completion of a sub-agent is part of the costs of its session and of the session above", async () => {
  const { model, prompt, session } = await openKernels({ features: [agents()] });
  const code = 'await completion("n")';
  model.add(
    [call("task", { description: "Look", prompt: "Look around." })],
    [call("call_tool", { name: "eval", arguments: { language: "javascript", code } })],
    { content: [text("7")], usage: { input: 70_000, output: 1 } },
    [text("Seven.")],
    [text("Done.")],
  );
  await prompt("go");
  const { tokens } = await session.sessionManager.getTotals();
  expect(tokens.total).toBeGreaterThan(70_000);
  // Counted once: the answers of the sub-agent are reported at its end, without this one.
  expect(tokens.total).toBeLessThan(140_000);
});
