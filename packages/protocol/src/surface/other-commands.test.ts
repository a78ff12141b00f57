import { expect, test } from "vitest";
import { describeUnknownCommand, findOtherCommand, otherCommandNames } from "./other-commands.ts";
import { isSlashCommandName, slashCommandNames, type SurfaceCommands } from "./slash-commands.ts";

const commands = Object.fromEntries(
  slashCommandNames.map((name) => [
    name,
    name === "new" || name === "tree"
      ? { kind: "here", run: () => {} }
      : { kind: "elsewhere", hint: "Close the page." },
  ]),
) as unknown as SurfaceCommands<unknown>;

test.each([
  ["clear", "Use /new."],
  ["undo", "/tree goes back to an earlier message. It does not change files back; git can."],
  // The surface does not have the command.
  ["quit", "Close the page."],
  ["exit", "Close the page."],
  ["init", "Write AGENTS.md, or ask for it: its text is sent with every request."],
  ["zzz", "/help shows those that there are."],
  ["constructor", "/help shows those that there are."],
])("/%s is not there: %s", (name, rest) => {
  expect(describeUnknownCommand(name, commands)).toBe(`There is no command /${name} here. ${rest}`);
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

test("no name of another agent's command is one of ours", () => {
  expect(otherCommandNames.filter(isSlashCommandName)).toEqual([]);
});
