import { expect, test } from "vitest";
import { listOtherModels, parseOtherModel } from "./catalog.ts";

test("the catalogue has 64 models for images and 56 classifiers, each once", () => {
  const models = listOtherModels();
  const count = (type: string) => models.filter((model) => model.type === type).length;
  expect([count("image"), count("classifier"), models.length]).toEqual([64, 56, 120]);
  expect(new Set(models.map(({ type, provider, id }) => `${type} ${provider}/${id}`)).size).toBe(120);
});

const model = listOtherModels()[0]!;

test.each([
  ["of another type", { type: "chat" }],
  ["without a name", { name: "" }],
  ["with the protocol of another type", { type: "image" }],
  ["without input", { input: [] }],
  ["with unknown input", { input: ["audio"] }],
])("a model %s is refused", (_what, changes) => {
  expect(() => parseOtherModel({ ...model, ...changes })).toThrow("is not complete");
});
