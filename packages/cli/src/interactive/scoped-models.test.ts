import { expect, test } from "vitest";
import { moveModel, orderModels, toggleModel, toggleModels } from "./scoped-models.ts";

const models = ["a/1", "a/2", "b/1"].map((name) => ({ name, provider: name.slice(0, 1), description: "" }));

test("the chosen models come first, in their order; names that no model has are left out", () => {
  expect(orderModels(models, ["b/1", "gone", "a/1"]).map(({ name }) => name)).toEqual(["b/1", "a/1", "a/2"]);
});

test.each([
  [[], "a/1", ["a/1"]],
  [["a/1"], "a/1", []],
  [["a/1"], "b/1", ["a/1", "b/1"]],
])("of %j, choosing %s leaves %j", (chosen, name, expected) => {
  expect(toggleModel(chosen, name)).toEqual(expected);
});

test.each([
  [[], ["a/1", "a/2"]],
  [["a/2"], ["a/2", "a/1"]],
  [["a/2", "b/1", "a/1"], ["b/1"]],
])("a provider is chosen whole, or if it is already not at all: %j becomes %j", (chosen, expected) => {
  expect(toggleModels(chosen, ["a/1", "a/2"])).toEqual(expected);
});

test.each([
  ["a/2", -1, ["a/2", "a/1", "b/1"]],
  ["a/2", 1, ["a/1", "b/1", "a/2"]],
  ["a/1", -1, ["a/1", "a/2", "b/1"]],
  ["b/1", 1, ["a/1", "a/2", "b/1"]],
  ["gone", 1, ["a/1", "a/2", "b/1"]],
] as const)("moving %s by %i gives %j", (name, step, expected) => {
  expect(moveModel(["a/1", "a/2", "b/1"], name, step)).toEqual(expected);
});
