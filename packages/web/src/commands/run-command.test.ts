import { describeUnknownCommand } from "@tau/protocol/surface";
import { expect, test } from "vitest";
import { isOfSession } from "./run-command.ts";
import { pageCommands } from "./slash-commands.ts";

test.each([
  ["deploy", "extension", true],
  ["review", "prompt", true],
  // Nothing of a project takes the place of what the page does.
  ["compact", "extension", false],
  ["help", "prompt", false],
  // As in the terminal, where an extension may have it.
  ["help", "extension", true],
  // A command of the terminal that the page does not have.
  ["quit", "prompt", true],
  ["other", undefined, false],
] as const)("/%s, which the session has as %s, is for the session: %j", (name, source, expected) => {
  expect(isOfSession(name, source === undefined ? [] : [{ name, source }])).toBe(expected);
});

test.each([
  ["login", "A provider is connected on the gateway's machine, with /login in the terminal or tau auth login."],
  // Known from other agents as the same.
  ["signin", "A provider is connected on the gateway's machine, with /login in the terminal or tau auth login."],
  ["quit", "Close the page to leave. The gateway keeps the session."],
  ["clear", "Use /new."],
])("/%s is not a command of the page, which says what to do instead", (name, hint) => {
  expect(describeUnknownCommand(name, pageCommands)).toBe(`There is no command /${name} here. ${hint}`);
});
