import { expect, test } from "vitest";
import type { Model, ModelThinkingLevel, ThinkingLevelMap } from "./model.ts";
import {
  clampThinkingLevel,
  getSupportedThinkingLevels,
  parseThinkingLevel,
  getThinkingBudget,
  thinkingLevels,
  toProviderLevel,
} from "./thinking.ts";

const model = (reasoning: boolean, thinkingLevelMap?: ThinkingLevelMap): Model => ({
  id: "m",
  name: "m",
  api: "a",
  provider: "p",
  baseUrl: "",
  reasoning,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1,
  maxTokens: 1,
  ...(thinkingLevelMap && { thinkingLevelMap }),
});

test.each([
  [model(false), ["off"]],
  [model(true), ["off", "minimal", "low", "medium", "high"]],
  [model(true, { xhigh: "xhigh", max: "max" }), [...thinkingLevels]],
  [model(true, { off: null, minimal: null, medium: null, high: "high", max: "max" }), ["low", "high", "max"]],
] as [Model, ModelThinkingLevel[]][])("a model has the levels its map leaves (%#)", (given, levels) => {
  expect(getSupportedThinkingLevels(given)).toEqual(levels);
});

test.each([
  [model(false), "high", "off"],
  [model(true), "xhigh", "high"],
  [model(true), "max", "high"],
  [model(true, { off: null }), "off", "minimal"],
  [model(true), "none" as ModelThinkingLevel, "off"],
  [model(true, { xhigh: "x", max: "m" }), "nonsense" as ModelThinkingLevel, "off"],
  [model(true, { minimal: null }), "minimal", "low"],
  [model(true, { medium: null, high: null, xhigh: "x" }), "medium", "xhigh"],
  [model(true, { low: null, medium: null, high: null }), "high", "minimal"],
] as [Model, ModelThinkingLevel, ModelThinkingLevel][])(
  "a level a model lacks becomes the nearest one (%#)",
  (given, level, expected) => {
    expect(clampThinkingLevel(given, level)).toBe(expected);
  },
);

test("a level's word comes from the model's map, else it is the level", () => {
  expect(toProviderLevel(model(true, { high: "extreme" }), "high")).toBe("extreme");
  expect(toProviderLevel(model(true), "high")).toBe("high");
});

test("budgets are those of the design, and may be overridden", () => {
  expect((["minimal", "low", "medium", "high", "max"] as const).map((level) => getThinkingBudget(level))).toEqual([
    1_024, 1_024, 8_192, 32_768, 32_768,
  ]);
  expect(getThinkingBudget("low", { low: 7 })).toBe(7);
});

test("none is read as off, and nonsense as nothing", () => {
  expect(parseThinkingLevel("none")).toBe("off");
  expect(parseThinkingLevel("xhigh")).toBe("xhigh");
  expect(parseThinkingLevel("lots")).toBeUndefined();
});
