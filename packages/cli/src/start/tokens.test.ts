import { expect, test } from "vitest";
import { findValueProblem, type FlagSpec, readTokens } from "./tokens.ts";

const options: FlagSpec[] = [
  { name: "print", short: "p" },
  { name: "quiet" },
  { name: "name", short: "n", value: "NAME" },
  { name: "model", value: "MODEL" },
  { name: "no-print", short: "np" },
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

test("letters that belong together are one option, but not as a part of others or after the end of the options", () => {
  expect(summarize(["-np", "-pnp", "--", "-np"])).toEqual([
    ["--no-print", "no-print", undefined, false],
    ["-p", "print", undefined, false],
    ["-n", "name", "p", true],
    "-np",
  ]);
});

test("a flag is never the value of another, however it is written", () => {
  const getProblem = (...args: string[]) =>
    readTokens(args, options).flatMap((token) => {
      const flag = token.kind === "option" && options.find(({ name }) => name === token.name);
      return flag ? [findValueProblem(flag, token)] : [];
    })[0];
  for (const args of [["-n", "-p"], ["-n", "-np"], ["-n", "--quiet"], ["-nx"], ["-n=p"], ["-n", ""], ["-n"]]) {
    expect(getProblem(...args), args.join(" ")).toBe("-n needs a value: -n NAME");
  }
  expect(getProblem("--name=-p")).toBeUndefined();
  expect(getProblem("-n", "-")).toBeUndefined();
});
