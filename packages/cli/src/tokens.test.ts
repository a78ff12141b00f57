import { expect, test } from "vitest";
import { type OptionSpec, readTokens } from "./tokens.ts";

const options: OptionSpec[] = [
  { name: "print", short: "p", takesValue: false },
  { name: "quiet", takesValue: false },
  { name: "name", short: "n", takesValue: true },
  { name: "model", takesValue: true },
];

const summarize = (args: readonly string[]) =>
  readTokens(args, options).map((token) =>
    token.kind === "positional" ? token.value : [token.rawName, token.name, token.value, token.inlineValue === true],
  );

test("a dash among letters is an unknown option, not the end of the options", () => {
  expect(summarize(["-p-"])).toEqual([
    ["-p", "print", undefined, false],
    ["--", "-", undefined, false],
  ]);
});

test("letters of several options can be written together, and the last may take a value", () => {
  expect(summarize(["-pnrelease", "-pn", "two words", "--", "-p"])).toEqual([
    ["-p", "print", undefined, false],
    ["-n", "name", "release", true],
    ["-p", "print", undefined, false],
    ["-n", "name", "two words", false],
    "-p",
  ]);
});

test("an unknown option is a token with the name as typed, and takes no value", () => {
  expect(summarize(["--other", "x", "--model=a=b", "-z"])).toEqual([
    ["--other", "other", undefined, false],
    "x",
    ["--model", "model", "a=b", true],
    ["-z", "z", undefined, false],
  ]);
});
