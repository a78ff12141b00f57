import { expect, test } from "vitest";
import { listInstructionFiles, parseInstruction } from "./add-instruction.ts";

test.each([
  ["#Use tabs", "Use tabs"],
  ["#  Use tabs. ", "Use tabs."],
  ["## A heading", undefined],
  ["#12 is broken", undefined],
  ["#!/bin/sh", undefined],
  ["#", undefined],
  ["# one\ntwo", undefined],
  ["see #this", undefined],
])("%j is the line %j", (text, line) => {
  expect(parseInstruction(text)).toBe(line);
});

test("the project's file comes first, then the user's, by the names that they have", () => {
  const places = { cwd: "/p/sub", agentDir: "/me/.tau" };
  expect(listInstructionFiles({ ...places, contextFiles: [] })).toEqual(["/p/sub/AGENTS.md", "/me/.tau/AGENTS.md"]);
  expect(
    listInstructionFiles({ ...places, contextFiles: ["/me/.tau/CLAUDE.md", "/p/AGENTS.md", "/p/sub/CLAUDE.md"] }),
  ).toEqual(["/p/sub/CLAUDE.md", "/me/.tau/CLAUDE.md", "/p/AGENTS.md"]);
});
