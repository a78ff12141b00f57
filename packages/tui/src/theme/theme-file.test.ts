import { describe, expect, test } from "vitest";
import { parseTheme } from "./theme-file.ts";
import { themeTokens, tokenFallbacks } from "./tokens.ts";

const required = themeTokens.filter((token) => tokenFallbacks[token] === undefined);
const allColors: Record<string, unknown> = Object.fromEntries(required.map((token) => [token, "#123456"]));

const parse = (fields: Record<string, unknown>) =>
  parseTheme(JSON.stringify({ name: "mine", colors: allColors, ...fields }), "mine.json");

const findProblems = (fields: Record<string, unknown>) =>
  (parse(fields).problems ?? []).map(({ key, message }) => `${key}: ${message}`);

test("a theme has 51 required and 5 optional colors", () => {
  expect(required).toHaveLength(51);
  expect(themeTokens).toHaveLength(56);
  expect(new Set(themeTokens).size).toBe(56);
});

test("a theme with the required colors is valid, and the optional ones follow others", () => {
  const colors = { ...allColors, muted: 1, text: "", selectedBg: "#222", thinkingXhigh: "okhsl(1 2% 3%)" };
  expect(parse({ colors }).theme?.colors).toMatchObject({
    scrollbarTrack: 1,
    scrollbarThumb: "",
    searchMatchBg: "#222",
    searchMatchText: "",
    thinkingMax: "okhsl(1 2% 3%)",
  });
  expect(parse({ colors: { ...colors, thinkingMax: 5 } }).theme?.colors.thinkingMax).toBe(5);
});

test("a theme keeps its name, its appearance and its colors for exports", () => {
  const fields = { $schema: "https://example.org/schema.json", appearance: "light", export: { pageBg: "paper" } };
  expect(parse({ ...fields, vars: { paper: "#fff" } }).theme).toMatchObject({
    name: "mine",
    appearance: "light",
    export: { pageBg: "#fff" },
  });
});

test("variables refer to each other", () => {
  const colors = { ...allColors, accent: "first", error: "toString" };
  const vars = { first: "second", second: "third", third: "oklch(50% 0.1 20)", toString: 9, __proto__x: 3 };
  expect(parse({ colors, vars }).theme?.colors).toMatchObject({ accent: "oklch(50% 0.1 20)", error: 9 });
});

test("a long chain of variables is followed", () => {
  const vars = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, index) => [`v${index}`, index === 49_999 ? 7 : `v${index + 1}`]),
  );
  expect(parse({ vars, colors: { ...allColors, accent: "v0" } }).theme?.colors.accent).toBe(7);
});

describe("a theme is refused", () => {
  test.each([
    ["its name is missing", { name: undefined }, ["name: mine.json: name is missing."]],
    [
      "its name is reserved",
      { name: "system" },
      ['name: mine.json: name is not valid: "system". The name "system" is reserved.'],
    ],
    ["its name contains a slash", { name: "a/b" }, ['name: mine.json: name is not valid: "a/b".']],
    ["its name is empty", { name: "" }, ['name: mine.json: name is not valid: "".']],
    ["a top key is unknown", { author: "me" }, ['author: mine.json: "author" is not a key of a theme.']],
    [
      "a color is unknown",
      { colors: { ...allColors, accents: 1 } },
      ['colors.accents: mine.json: "colors.accents" is not a key of a theme.'],
    ],
    [
      "an export color is unknown",
      { export: { bg: 1 } },
      ['export.bg: mine.json: "export.bg" is not a key of a theme.'],
    ],
    ["its appearance is unknown", { appearance: "dim" }, ['appearance: mine.json: appearance is not valid: "dim".']],
    ["it has no colors", { colors: undefined }, ["colors: mine.json: colors is missing."]],
    ["its variables are no object", { vars: [] }, ["vars: mine.json: vars is not valid: []."]],
    [
      "a required color is missing",
      { colors: { ...allColors, bashMode: undefined } },
      ["colors.bashMode: mine.json: colors.bashMode is missing."],
    ],
    [
      "a color is not valid",
      { colors: { ...allColors, accent: "#12", dim: 256, text: null } },
      [
        'colors.accent: mine.json: colors.accent is not valid: "#12".',
        "colors.dim: mine.json: colors.dim is not valid: 256.",
        "colors.text: mine.json: colors.text is not valid: null.",
      ],
    ],
    [
      "a variable is missing",
      { colors: { ...allColors, accent: "primary" } },
      ['colors.accent: mine.json: colors.accent is not valid: "primary". There is no variable "primary".'],
    ],
    [
      "a variable refers to one that is missing",
      { vars: { a: "b", b: "c" } },
      ['vars.b: mine.json: vars.b is not valid: "c". There is no variable "c".'],
    ],
    [
      "variables refer to each other in a circle",
      { vars: { x: "a", a: "b", b: "a" }, colors: { ...allColors, accent: "x" } },
      ['vars.a: mine.json: vars.a is not valid: "b". It refers to itself: a → b → a.'],
    ],
  ])("if %s", (_, fields, problems) => {
    expect(findProblems(fields)).toEqual(problems);
  });

  test("if it is not JSON or not an object", () => {
    expect(parseTheme("{", "x.json").problems?.[0]).toMatchObject({
      key: "",
      message: expect.stringMatching(/^x\.json is not JSON: .*\.$/),
      allowed: "a JSON object",
    });
    expect(parseTheme("[]", "x.json").problems?.[0]?.message).toBe("x.json is not a theme.");
  });
});

test("a problem says what is allowed", () => {
  const problems = parse({ appearance: 1, colors: { ...allColors, accent: "#" }, vats: {} }).problems ?? [];
  expect(Object.fromEntries(problems.map(({ key, allowed }) => [key, allowed]))).toEqual({
    vats: "$schema, name, appearance, vars, colors, export",
    appearance: '"dark" or "light"',
    "colors.accent":
      '"#rgb", "#rrggbb", an index from 0 to 255, "oklch(62% 0.1 200)", "okhsl(250 60% 55%)" or "" for the terminal\'s default, or the name of a variable',
  });
});

test("no message contains a control character of the file", () => {
  const texts = [
    "\x1b[31m",
    JSON.stringify({ name: "\u009b31m", "\u009b1m\x1b": 1, vars: { "\x1bv": "\x1bw" }, colors: { "\x07": 2 } }),
  ];
  for (const text of texts) {
    const messages = (parseTheme(text, "x.json").problems ?? []).map(({ message }) => message);
    expect(messages.length).toBeGreaterThan(0);
    expect(messages.filter((message) => /\p{Cc}/u.test(message))).toEqual([]);
  }
});
