import { expect, test } from "vitest";
import { findCommand, isOfSession, parseCommand } from "./run-command.ts";

test.each([
  ["/compact", { name: "compact", argument: "" }],
  ["  /name  A name\nof two lines ", { name: "name", argument: "A name\nof two lines" }],
  ["/etc/hosts is wrong", undefined],
  ["/skill:review this", undefined],
  ["a /name", undefined],
  ["/", undefined],
])("%j is read as %j", (text, command) => {
  expect(parseCommand(text)).toEqual(command);
});

test.each([
  ["deploy", "extension", true],
  ["review", "prompt", true],
  // Nothing of a project takes the place of what the page does.
  ["compact", "extension", false],
  ["help", "prompt", false],
  // As in the terminal, where an extension may have it.
  ["help", "extension", true],
  ["other", undefined, false],
] as const)("/%s, which the session has as %s, is for the session: %j", (name, source, expected) => {
  const own = findCommand(name);
  const listed = source === undefined ? [] : [{ name, source }];
  const isAsked = own === undefined || own.yields === true;
  expect(isAsked && isOfSession({ name, argument: "" }, own, listed)).toBe(expected);
});
