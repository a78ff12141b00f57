import { getModels } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getReference } from "./resolve.ts";
import { matchesGlob, scopeModels } from "./scope.ts";

const models = ["anthropic", "openai", "groq", "xai"].flatMap((provider) => getModels(provider));
const preference = { providerOrder: ["anthropic", "openai", "groq", "xai"] };
const scoped = (...patterns: string[]) =>
  scopeModels(patterns, models, preference).models.map(
    ({ model, thinkingLevel }) => getReference(model) + (thinkingLevel ? `:${thinkingLevel}` : ""),
  );

describe("a pattern", () => {
  test("with a star matches everything that fits, also across slashes and in any case", () => {
    expect(scoped("XAI/*")).toEqual(["xai/grok-4.3", "xai/grok-4.5", "xai/grok-4.6", "xai/grok-4.7"]);
    expect(scoped("groq/*oss-1*")).toEqual(["groq/openai/gpt-oss-120b"]);
    expect(scoped("*")).toHaveLength(models.length);
  });

  test("with a star and a level gives the level to all matches, clamped to what each can do", () => {
    expect(scoped("*sonnet-5:high", "gpt-4o-mini*:high")).toEqual([
      "anthropic/claude-sonnet-5:high",
      "openai/gpt-4o-mini:off",
    ]);
  });

  test("also matches the id alone", () => expect(scoped("grok-4.?")).toHaveLength(4));

  test("without a star is resolved like a model that a user types", () => {
    expect(scoped("opus:low", "openai/o3")).toEqual(["anthropic/claude-opus-5-5:low", "openai/o3"]);
  });

  test("that is ambiguous includes all candidates, and is reported", () => {
    const { models: found, problems } = scopeModels(["gpt-6:low"], models, preference);
    expect(found.map(({ thinkingLevel }) => thinkingLevel)).toEqual(["low", "low", "low"]);
    expect(problems).toMatchObject([{ pattern: "gpt-6:low", kind: "ambiguous" }]);
  });

  test("that matches nothing is reported, and the others still count", () => {
    const { models: found, problems } = scopeModels(["nobody/*", "claude-sonet-5", "openai/o3"], models, preference);
    expect(found).toHaveLength(1);
    expect(problems.map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
      'not_found: No model matches "nobody/*".',
      expect.stringContaining('Did you mean "claude-sonnet-5"'),
    ]);
  });
});

test("each model is included once, with the level of the first pattern that matches it", () => {
  expect(scoped("xai/grok-4.7:high", "xai/*:low").slice(0, 2)).toEqual(["xai/grok-4.7:high", "xai/grok-4.3:low"]);
  expect(scoped("xai/*", "xai/*")).toHaveLength(4);
});

describe("a glob", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 12 });

  test("matches what the same pattern as a regular expression matches", () => {
    const globs = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 6 });
    fc.assert(
      fc.property(globs, texts, (glob, text) => {
        const expected = new RegExp(`^${glob.replaceAll("*", "[^]*").replaceAll("?", "[^]")}$`).test(text);
        expect(matchesGlob(glob, text)).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test("with many stars is as fast as one with few", () => {
    expect(matchesGlob("*a".repeat(2_000) + "b", "a".repeat(4_000))).toBe(false);
  });
});
