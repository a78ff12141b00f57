import { expect, test } from "vitest";
import { findByName } from "./find-by-name.ts";

const commands = ["skill:review", "deploy", "Release", "review", "reload"].map((name) => ({ name }));

test.each([
  ["re", ["Release", "review", "reload", "skill:review"]],
  ["review", ["review", "skill:review"]],
  ["rvw", ["skill:review", "review"]],
  ["DEP", ["deploy"]],
  ["xyz", []],
  ["", commands.map(({ name }) => name)],
])("%j finds %j: what begins with it, then what contains it, then what has its letters in order", (letters, names) => {
  expect(findByName(commands, letters).map(({ name }) => name)).toEqual(names);
});
