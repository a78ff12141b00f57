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
] as [Model, ModelThinkingLevel[]][])("a model supports the levels that its map allows (%#)", (target, levels) => {
  expect(getSupportedThinkingLevels(target)).toEqual(levels);
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
  "an unsupported level becomes the nearest supported one (%#)",
  (target, level, expected) => {
    expect(clampThinkingLevel(target, level)).toBe(expected);
  },
);

test("the provider's value for a level comes from the model's map, else it is the level itself", () => {
  expect(toProviderLevel(model(true, { high: "extreme" }), "high")).toBe("extreme");
  expect(toProviderLevel(model(true), "high")).toBe("high");
});

test("every level has a default budget, and budgets can be overridden", () => {
  expect((["minimal", "low", "medium", "high", "max"] as const).map((level) => getThinkingBudget(level))).toEqual([
    1_024, 1_024, 8_192, 32_768, 32_768,
  ]);
  expect(getThinkingBudget("low", { low: 7 })).toBe(7);
});

test("none is parsed as off, and an unknown level as undefined", () => {
  expect(parseThinkingLevel("none")).toBe("off");
  expect(parseThinkingLevel("xhigh")).toBe("xhigh");
  expect(parseThinkingLevel("lots")).toBeUndefined();
});
