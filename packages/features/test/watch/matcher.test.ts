/** Patterns of rules: they match as regular expressions do, in linear time, or are refused. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createMatcher } from "../../src/watch/matcher.ts";

/** Patterns of the subset that is matched, with the characters of the texts below. */
const patterns = fc.letrec<{ pattern: string; atom: string; part: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 2, depthIdentifier: "groups" },
    fc.constantFrom(
      "a",
      "b",
      "B",
      "1",
      " ",
      "-",
      "\\n",
      "\\.",
      ".",
      "\\w",
      "\\d",
      "\\s",
      "\\W",
      "\\D",
      "\\S",
      "\\x61",
      "\\u0062",
      "ä",
    ),
    fc.constantFrom("[ab]", "[^ab]", "[a-c1]", "[\\d-]", "[^\\w\\s]", "[\\Da]", "[]", "[^]", "[-a]"),
    tie("pattern").map((inner) => `(${inner})`),
    tie("pattern").map((inner) => `(?:${inner})`),
  ),
  part: fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(tie("atom"), fc.constantFrom("", "", "*", "+", "?", "{0}", "{2}", "{1,}", "{0,2}", "*?", "+?"))
        .map(([atom, times]) => atom + times),
    },
    { weight: 1, arbitrary: fc.constantFrom("^", "$", "\\b", "\\B") },
  ),
  pattern: fc
    .array(
      fc.array(tie("part"), { maxLength: 4 }).map((parts) => parts.join("")),
      { minLength: 1, maxLength: 3 },
    )
    .map((choices) => choices.join("|")),
})).pattern;

const texts = fc.string({
  unit: fc.constantFrom("a", "b", "B", "c", "1", " ", "-", "\n", "\r", ".", "ä", "Ä", "😀", "_"),
  maxLength: 30,
});

test("a pattern matches where the regular expression of the language does", () => {
  let compared = 0;
  fc.assert(
    fc.property(patterns, texts, fc.boolean(), (pattern, text, ignoresCase) => {
      const expression = new RegExp(pattern, ignoresCase ? "mui" : "mu");
      const isRefused = expression.test("");
      const create = () => createMatcher(ignoresCase ? `(?i)${pattern}` : pattern);
      if (isRefused) return void expect(create).toThrow(/empty text|too large|groups inside/);
      let matcher: ReturnType<typeof createMatcher>;
      try {
        matcher = create();
      } catch (error) {
        return void expect(String(error)).toMatch(/too large|groups inside/);
      }
      compared++;
      expect(matcher.matches(text)).toBe(expression.test(text));
    }),
    { numRuns: 2_000 },
  );
  expect(compared).toBeGreaterThan(300);
});

test.each([
  ["(a)\\1", "refers back"],
  ["(?<name>a)\\k<name>", "group that begins"],
  ["a(?=b)", "looks ahead or behind"],
  ["(?<!a)b", "looks ahead or behind"],
  ["a++", "possessive"],
  ["a**", "quantifiers"],
  ["(a", "does not close a group"],
  ["a)", "does not open"],
  ["[a", "does not close a class"],
  ["[b-a]", "ends before it begins"],
  ["*a", "means nothing"],
  ["\\p{L}", "not known"],
  ["\\", "backslash"],
  ["\\u12", "hexadecimal"],
  ["a{3,1}", "wrong order"],
  ["a{2000}", "repeats more than"],
  ["(?:a{100}){100}", "too large"],
  ["((){1000}){1000}", "too large"],
  ["(((a{0}){1000}){1000}){1000}", "too large"],
  ["((((((((a{9}){9}){9}){9}){9}){9}){9}){9})", "too large"],
  ["(".repeat(60) + "a" + ")".repeat(60), "groups inside"],
  ["x".repeat(1_001), "longer than"],
  ["a*", "empty text"],
  ["", "empty text"],
])("the pattern %j is refused, because it %s", (pattern, reason) => {
  expect(() => createMatcher(pattern)).toThrow(reason);
});

test("a text takes as many steps as it has characters, times the size of the pattern, whatever both are", () => {
  const hostile = fc.constantFrom(
    "(a+)+$b",
    "(a|a)*b",
    "(a|aa)+b",
    "(.*)*b",
    "((a*)*)*b",
    "(\\w+\\s?)*1$",
    "(a?){40}a{40}",
  );
  let counted = 0;
  fc.assert(
    fc.property(
      fc.oneof(patterns, hostile),
      fc.oneof(
        texts,
        fc.nat(2_000).map((length) => "a".repeat(length)),
      ),
      (pattern, text) => {
        let matcher: ReturnType<typeof createMatcher>;
        try {
          matcher = createMatcher(pattern);
        } catch {
          return;
        }
        let steps = 0;
        matcher.matches(text, () => steps++);
        // An instruction leads to two others at most.
        expect(steps).toBeLessThanOrEqual(3 * matcher.size * (text.length + 1));
        counted++;
      },
    ),
    { numRuns: 1_000 },
  );
  expect(counted).toBeGreaterThan(200);
});

test("names of the language are plain names in a pattern", () => {
  expect(createMatcher("constructor").matches("the constructor of x")).toBe(true);
  expect(createMatcher("(?i)password").matches("My PassWord")).toBe(true);
  expect(createMatcher("\\bTODO\\b").matches("a TODO: b")).toBe(true);
  expect(createMatcher("^rm -rf").matches("cd x\nrm -rf /")).toBe(true);
});
