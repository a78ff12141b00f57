import { expect, test } from "vitest";
import { describeUnknownCommand, findOtherCommand } from "./other-commands.ts";

const has = (name: string) => name === "new" || name === "tree";

test.each([
  ["clear", "Use /new."],
  ["undo", "/tree goes back to an earlier message. It does not change files back; git can."],
  // The surface does not have the command.
  ["exit", "/help shows those that there are."],
  ["init", "Write AGENTS.md, or ask for it: its text is sent with every request."],
  ["zzz", "/help shows those that there are."],
  ["constructor", "/help shows those that there are."],
])("/%s is not there: %s", (name, rest) => {
  expect(describeUnknownCommand(name, has)).toBe(`There is no command /${name} here. ${rest}`);
});

test.each([
  ["clear", "new"],
  ["cost", "session"],
  ["status", "session"],
  ["undo", "tree"],
  ["rewind", "tree"],
  ["exit", "quit"],
])("/%s of other agents is /%s", (name, use) => {
  expect(findOtherCommand(name)?.use).toBe(use);
});
