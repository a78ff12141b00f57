/** A command that is followed by words that it does not take: a sentence that was meant for the model. */
import { expect, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { parseUsages } from "../../src/commands/usage.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createWorkspace, run } from "../kit.ts";

const words = ["please", "make", "it", "quick"];

/** More words than each usage line takes. */
const tooMany = commands.flatMap((command) =>
  parseUsages(command)
    .filter(({ positionals }) => !positionals.at(-1)?.isMany)
    .map(({ subcommand, positionals }) =>
      [command.name, subcommand, ...words.slice(0, positionals.length + 1)].filter((word) => word !== ""),
    ),
);

const sentences = [
  ["sessions", "show", "me", "the", "list"],
  ["sessions", "are", "slow"],
  ["sessions", "delete", "the", "old", "ones"],
  ["sessions", "restore", "the", "last", "one"],
  ["sessions", "rename", "the", "file"],
  ["install", "the", "dependencies"],
  ["remove", "the", "unused", "imports."],
  ["update", "everything", "please"],
  ["policy", "rules", "for", "the", "project"],
  ["trust", "me"],
  ["help", "me", "mend", "it"],
];

test.each([...tooMany, ...sentences])("tau %s … is refused, with how to send it to the model", async (...args) => {
  const { code, out, err } = await run(await createWorkspace(), args);
  expect({ code, out }).toEqual({ code: exitCodes.usage, out: "" });
  expect(err).toContain(` To send it to the model, use tau -p "${args.join(" ")}".`);
});

test.each([
  ["a misspelled subcommand", ["sessions", "lsit"]],
  ["a name that is not there", ["sessions", "delete", "gone"]],
  ["names that are not there", ["sessions", "delete", "0199-a1", "0199-b2"]],
  ["sources", ["remove", "npm:one", "./two"]],
  ["an option", ["list", "everything", "--json"]],
  ["a missing word", ["config", "set", "theme"]],
])("%s is no sentence", async (_name, args) => {
  const { code, err } = await run(await createWorkspace(), args);
  expect(code).toBe(exitCodes.usage);
  expect(err).not.toContain("tau -p");
});

test("what a shell would replace between double quotes is between single ones", async () => {
  const { err } = await run(await createWorkspace(), ["trust", "it's", "$5"]);
  expect(err).toContain(String.raw`use tau -p 'trust it'\''s $5'.`);
});
