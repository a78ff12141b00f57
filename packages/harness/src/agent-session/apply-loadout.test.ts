import type { AgentTool } from "@tau/agent";
import type { ToolLoadout } from "@tau/extensions";
import type { PipelineTool } from "@tau/extensions/internal";
import { expect, test } from "vitest";
import { applyLoadout } from "./apply-loadout.ts";

const tool = (name: string, more: Partial<PipelineTool> = {}): AgentTool => ({
  name,
  label: name,
  description: `About ${name}.`,
  parameters: { type: "object" },
  execute: async () => ({ content: [], details: {} }),
  ...more,
});

const describe = (tools: readonly AgentTool[]) => tools.map(({ name, description }) => `${name}: ${description}`);

test("a tool describes itself and others, and hides some, which stay active", () => {
  const prepareLoadout = () => ({ descriptions: { main: "Calls a.", b: "Changed." }, hiddenDeclarations: ["a"] });
  const { tools, unlisted, problems } = applyLoadout(
    [tool("main", { prepareLoadout }), tool("a"), tool("b")],
    [tool("before")],
    () => [],
  );
  expect(describe(tools)).toEqual(["main: Calls a.", "b: Changed."]);
  expect(describe(unlisted)).toEqual(["before: About before.", "a: About a."]);
  expect(problems).toEqual([]);
});

test("a tool sees all tools with their own descriptions, how they are reached, and their guidelines", () => {
  const seen: ToolLoadout[] = [];
  const look = (loadout: ToolLoadout) => {
    seen.push(loadout);
    return { descriptions: { b: "Changed." } };
  };
  const namespace = { name: "mcp__docs" };
  applyLoadout(
    [
      tool("main", { prepareLoadout: look, isModelOnly: true, exposure: "model-only" }),
      tool("b", { promptGuidelines: ["Use b.", { text: "Use b with c.", with: ["c"] }] }),
      tool("second", { prepareLoadout: look }),
    ],
    [tool("beside")],
    () => [tool("found", { exposure: "deferred", namespace })],
  );
  expect(seen).toHaveLength(2);
  for (const loadout of seen) {
    const names = (tools: readonly AgentTool[]) => tools.map(({ name }) => name).join(" ");
    expect(names(loadout.declared)).toBe("main b second");
    expect(names(loadout.callable)).toBe("b second beside found");
    expect(names(loadout.registered)).toBe("main b second beside found");
    expect(loadout.declared[1]!.description).toBe("About b.");
    expect(["main", "b", "found", "unknown"].map(loadout.getExposure)).toEqual([
      "model-only",
      "direct",
      "deferred",
      "direct",
    ]);
    expect([loadout.getNamespace("found"), loadout.getNamespace("b")]).toEqual([namespace, undefined]);
    expect(loadout.getPromptGuidelines("b")).toEqual(["Use b.", "Use b with c."]);
  }
});

test.each([
  ["nothing", undefined],
  ["a text", "hidden"],
  ["other tools and values", { descriptions: { unknown: "x", a: 5 }, hiddenDeclarations: ["unknown", 5] }],
  ["no lists", { descriptions: ["a"], hiddenDeclarations: "a" }],
])("an answer that is %s changes nothing", (_name, answer) => {
  const given = [tool("main", { prepareLoadout: () => answer as never }), tool("a")];
  const { tools, unlisted, problems } = applyLoadout(given, [], () => []);
  expect([describe(tools), unlisted, problems]).toEqual([describe(given), [], []]);
});

test("a function that throws changes nothing and is reported, and the others are called", () => {
  const fail = () => {
    throw new Error("broken");
  };
  const hide = () => ({ hiddenDeclarations: ["a"] });
  const given = [tool("bad", { prepareLoadout: fail }), tool("good", { prepareLoadout: hide }), tool("a")];
  const { tools, problems } = applyLoadout(given, [], () => []);
  expect(tools.map(({ name }) => name)).toEqual(["bad", "good"]);
  expect(problems).toEqual(["The tool bad could not change how the model is shown the tools: broken"]);
});

test("tools that are found are not listed if nobody asks for changes", () => {
  applyLoadout([tool("a")], [], () => {
    throw new Error("listed");
  });
});
