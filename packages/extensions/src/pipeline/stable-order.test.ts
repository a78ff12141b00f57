import type { AgentTool } from "@tau/agent";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keepOrder, toolsPrefix } from "./stable-order.ts";

const tool = (name: string, more: Partial<AgentTool> = {}): AgentTool => ({
  name,
  label: name,
  description: `does ${name}`,
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [] }),
  ...more,
});

const lists = fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { maxLength: 8 });
const getTools = (names: readonly string[]) => names.map((name) => tool(name));
const getNames = (tools: readonly AgentTool[]) => tools.map(({ name }) => name);

describe("keepOrder", () => {
  test("keeps the order of what was there, appends the rest in its own order, and loses nothing", () => {
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const given = Object.freeze(getTools(after));
        const ordered = keepOrder(Object.freeze(getTools(before)), given);
        expect(getNames(ordered)).toEqual([
          ...before.filter((name) => after.includes(name)),
          ...after.filter((name) => !before.includes(name)),
        ]);
        // The tools of now, not those of before.
        expect(new Set(ordered)).toEqual(new Set(given));
        expect(ordered.every((one) => given.includes(one))).toBe(true);
      }),
    );
  });

  test("leaves the prefix whole when tools are only added", () => {
    fc.assert(
      fc.property(lists, lists, lists, (before, between, more) => {
        const old = getTools(before);
        const added = getTools([...new Set([...between, ...more])].filter((name) => !before.includes(name)));
        // New tools stand anywhere among the old ones.
        const mixed = [...added.slice(0, between.length), ...old.toReversed(), ...added.slice(between.length)];
        const ordered = keepOrder(old, mixed);
        expect(toolsPrefix(ordered).startsWith(toolsPrefix(old).slice(0, -1))).toBe(true);
        expect(getNames(keepOrder(ordered, mixed))).toEqual(getNames(ordered));
      }),
    );
  });
});

describe("toolsPrefix", () => {
  test("is what a model is shown of the tools, as JSON", () => {
    const strict = tool("a", { strict: "prefer", description: 'with "quotes"' });
    expect(JSON.parse(toolsPrefix([strict, tool("b")]))).toEqual([
      { name: "a", description: 'with "quotes"', parameters: strict.parameters, strict: "prefer" },
      { name: "b", description: "does b", parameters: { type: "object", properties: {} } },
    ]);
    expect(toolsPrefix([])).toBe("[]");
  });

  test("differs exactly where something that is shown differs", () => {
    const one = toolsPrefix([tool("a")]);
    expect(toolsPrefix([tool("a", { label: "other", execute: async () => ({ content: [] }) })])).toBe(one);
    expect(toolsPrefix([tool("a", { description: "other" })])).not.toBe(one);
    expect(toolsPrefix([tool("a", { parameters: { type: "object", properties: { x: {} } } })])).not.toBe(one);
    expect(toolsPrefix([tool("a", { strict: "require" })])).not.toBe(one);
    expect(toolsPrefix([tool("a"), tool("b")])).not.toBe(toolsPrefix([tool("b"), tool("a")]));
  });

  test("writes each tool once, however often it is asked", () => {
    let written = 0;
    const parameters = {
      type: "object",
      toJSON: () => {
        written++;
        return { type: "object" };
      },
    };
    const tools = [tool("a", { parameters }), tool("b", { parameters })];
    for (let at = 0; at < 100; at++) toolsPrefix(tools);
    expect(written).toBe(1);
  });

  test("shows what a schema of another library says of itself", () => {
    const described = { type: "object", properties: { city: { type: "string" } } };
    const parameters = { "~standard": { vendor: "other", jsonSchema: { input: () => described } }, secret: 1 };
    expect(JSON.parse(toolsPrefix([tool("a", { parameters })]))).toMatchObject([{ parameters: described }]);
  });
});
