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
    test(`suggests ${first} for ${wanted}`, () => expect(nearestNames(wanted, names)[0]).toBe(first));
  }

  test("counts two swapped letters as one edit", () => {
    expect(nearestNames("gorq", names, 1)).toEqual(["groq"]);
    expect(nearestNames("gorqs", names, 1)).toEqual([]);
  });

  test("returns nothing if no name is similar", () => {
    expect(nearestNames("watsonx-granite", names)).toEqual([]);
    expect(nearestNames("", names)).toEqual([]);
  });

  test("costs little for a text that is much longer than all names", () => {
    const before = process.cpuUsage();
    expect(
      nearestNames(
        "a".repeat(100_000),
        Array.from({ length: 300 }, (_unused, index) => `model-${index}`),
      ),
    ).toEqual([]);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  test("suggests successors of a removed model, at most three", () => {
    const ids = getModels("anthropic").map(({ id }) => id);
    const hint = nearestNames("claude-sonnet-4-20250514", ids);
    expect(hint.length).toBeLessThanOrEqual(3);
    expect(hint.every((id) => id.startsWith("claude-sonnet-4"))).toBe(true);
    expect(didYouMean("claude-sonnet-45", ids)).toMatch(/^ Did you mean "claude-sonnet-4-5"/);
  });
});
