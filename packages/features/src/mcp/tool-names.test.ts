import fc from "fast-check";
import { expect, test } from "vitest";
import { getToolExposure, toToolName } from "./tool-names.ts";

test.each([
  ["docs", "search", "mcp__docs__search"],
  ["my-docs", "get_page", "mcp__my-docs__get_page"],
])("%s and %s are %s", (server, tool, name) => {
  expect(toToolName(server, tool)).toBe(name);
});

test("other characters and long names end in a hash", () => {
  expect(toToolName("my docs", "a.b")).toMatch(/^mcp__my_docs__a_b_[0-9a-f]{8}$/);
  expect(toToolName("docs", "x".repeat(100))).toMatch(/^mcp__docs__x{44}_[0-9a-f]{8}$/);
});

test("names have at most 64 accepted characters and never collide", () => {
  // Few characters, so that near collisions are common.
  const part = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "_", "-", "b", ".", "é"), minLength: 1, maxLength: 6 }),
    fc.string({ minLength: 1, maxLength: 80 }),
  );
  fc.assert(
    fc.property(part, part, part, part, (server, tool, otherServer, otherTool) => {
      const name = toToolName(server, tool);
      expect(name).toMatch(/^mcp__[A-Za-z0-9_-]{1,59}$/);
      const isSame = server === otherServer && tool === otherTool;
      expect(name === toToolName(otherServer, otherTool)).toBe(isSame);
    }),
    { numRuns: 2_000 },
  );
});

test("the exposure of a tool is that of its name, else of the first pattern, else of the server", () => {
  const entry = {
    exposure: "codemode",
    toolExposure: { "*": "hidden", "get_*": "direct", get_all: "deferred" },
  } as const;
  expect(["get_all", "get_one", "other"].map((tool) => getToolExposure(entry, tool))).toEqual([
    "deferred",
    "hidden",
    "hidden",
  ]);
  expect(getToolExposure({ exposure: "direct", toolExposure: { "get_*": "hidden" } }, "put")).toBe("direct");
});
