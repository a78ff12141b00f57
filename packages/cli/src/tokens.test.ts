import { parseArgs } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type OptionKind, readTokens, type Token } from "./tokens.ts";

const options: OptionKind[] = [
  { name: "print", short: "p", takesValue: false },
  { name: "quiet", takesValue: false },
  { name: "name", short: "n", takesValue: true },
  { name: "model", takesValue: true },
];

/** Words that are made of what matters: dashes, names that exist and not, equals signs, letters in groups. */
const piece = fc.constantFrom("-", "--", "=", "p", "n", "x", "print", "name", "model", "quiet", "other", " ", "ü", "");
const word = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
/** Node takes a dash among letters for the end of all options; here it is an option that there is none of. */
const hasDashAmongLetters = (text: string) => /^-[^-]+-/.test(text);
const words = fc.array(
  word.filter((text) => !hasDashAmongLetters(text)),
  { maxLength: 6 },
);

const asNodeReads = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      options.map(({ name, short, takesValue }) => [
        name,
        { type: takesValue ? ("string" as const) : ("boolean" as const), ...(short !== undefined && { short }) },
      ]),
    ),
  }).tokens.flatMap((token): Token[] => {
    if (token.kind === "option-terminator") return [];
    if (token.kind === "positional") return [{ kind: token.kind, value: token.value, index: token.index }];
    const { kind, name, rawName, value, index } = token;
    return [{ kind, name, rawName, value, isInline: token.inlineValue === true, index }];
  });

test("Words are read as Node itself reads them", () => {
  fc.assert(
    fc.property(words, (args) => {
      expect(readTokens(args, options)).toEqual(asNodeReads(args));
    }),
    { numRuns: 10_000 },
  );
});

test("A dash among letters is an option that there is none of", () => {
  const names = readTokens(["-p-", "-q"], options).map((token) => token.kind === "option" && token.name);
  expect(names).toEqual(["print", "-", "q"]);
});

test("Letters of several options stand together, and the last may take a value", () => {
  const tokens = readTokens(["-pnrelease", "-pn", "two words", "--", "-p"], options);
  expect(tokens).toEqual([
    { kind: "option", name: "print", rawName: "-p", value: undefined, isInline: false, index: 0 },
    { kind: "option", name: "name", rawName: "-n", value: "release", isInline: true, index: 0 },
    { kind: "option", name: "print", rawName: "-p", value: undefined, isInline: false, index: 1 },
    { kind: "option", name: "name", rawName: "-n", value: "two words", isInline: false, index: 1 },
    { kind: "positional", value: "-p", index: 4 },
  ]);
});
