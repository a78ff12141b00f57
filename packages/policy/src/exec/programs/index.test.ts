import { expect, test } from "vitest";
import { listRuledNames } from "../rules/index.ts";
import { families, findProgram, isProgram } from "./index.ts";
import type { Program } from "./program.ts";

const records = families.flatMap((family) => Object.entries(family));
const names = records.flatMap(([list]) => list.split(" "));
const ruled = new Set(listRuledNames());

test("every program stands in one record", () => {
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("a record that is like another one has its rules and options, but not its traits", () => {
  const known = new Set<string>();
  for (const [list, { like, is = [] }] of records) {
    for (const name of list.split(" ")) {
      known.add(name);
      if (like === undefined) continue;
      expect(known, `${name} is like ${like}, which must come before it`).toContain(like);
      expect(findProgram(name)?.rules).toEqual(findProgram(like)!.rules);
      expect(findProgram(name)?.is).toEqual(is);
    }
  }
});

test("every record says something: a rule applies to it, or it is taken for something", () => {
  const silent = names.filter((name) => !ruled.has(name) && (findProgram(name)!.is ?? []).length === 0);
  expect(silent).toEqual([]);
});

test("options whose value is a program, code or a file take a value", () => {
  const takesValue = ({ options = "" }: Program, name: string) => {
    const [letters = "", ...longs] = options.split(" ");
    return name.length === 1
      ? letters.includes(`${name}:`)
      : longs.some((long) => long.replace(/=\??$/, "=") === `${name}=`);
  };
  const wrong = records.flatMap(([list, { runs, writes, code, lines, like, ...record }]) =>
    // All programs that take lines of code share the names of their options.
    [runs, writes, lines === undefined ? code : undefined]
      .flatMap((values) => values?.split(" ") ?? [])
      .filter((name) => !takesValue(like === undefined ? record : findProgram(list)!, name))
      .map((name) => `${list}: ${name}`),
  );
  expect(wrong).toEqual([]);
});

test("names that end in grep are taken for grep, others are not guessed", () => {
  expect(isProgram("pdfgrep", "search")).toBe(true);
  expect(isProgram("mygrep2", "search")).toBe(false);
  expect(isProgram("unheard-of", "viewer")).toBe(false);
});
