import { describe, expect, test } from "vitest";
import { getModels } from "./catalog/catalog.ts";
import { didYouMean, nearestNames } from "./nearest.ts";

const names = ["anthropic", "openai", "openrouter", "google", "google-vertex", "groq", "mistral"];

describe("nearestNames", () => {
  for (const [wanted, first] of [
    ["antropic", "anthropic"],
    ["OpenAI", "openai"],
    ["open-ai", "openai"],
    ["vertex", "google-vertex"],
    ["mistrall", "mistral"],
  ] as const) {
    test(`takes ${wanted} for ${first}`, () => expect(nearestNames(wanted, names)[0]).toBe(first));
  }

  test("counts two letters that changed places as one slip", () => {
    expect(nearestNames("gorq", names, 1)).toEqual(["groq"]);
    expect(nearestNames("gorqs", names, 1)).toEqual([]);
  });

  test("has no suggestion for what is like nothing", () => {
    expect(nearestNames("watsonx-granite", names)).toEqual([]);
    expect(nearestNames("", names)).toEqual([]);
  });

  test("offers successors of a model that is gone, three at most", () => {
    const ids = getModels("anthropic").map(({ id }) => id);
    const hint = nearestNames("claude-sonnet-4-20250514", ids);
    expect(hint.length).toBeLessThanOrEqual(3);
    expect(hint.every((id) => id.startsWith("claude-sonnet-4"))).toBe(true);
    expect(didYouMean("claude-sonnet-45", ids)).toMatch(/^ Did you mean "claude-sonnet-4-5"/);
  });
});
