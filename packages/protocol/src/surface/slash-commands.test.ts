import { expect, test } from "vitest";
import {
  findCommandHere,
  formatUsage,
  listCommandsHere,
  parseSlashCommand,
  parseTypedCommand,
  slashCommandNames,
  type SurfaceCommands,
} from "./slash-commands.ts";

test.each([
  ["/compact", { name: "compact", argument: "" }],
  ["  /name  A name\nof two lines ", { name: "name", argument: "A name\nof two lines" }],
  ["/etc/hosts is wrong", undefined],
  ["/skill:review this", undefined],
  ["a /name", undefined],
  ["/", undefined],
])("%j is parsed as %j", (text, command) => {
  expect(parseTypedCommand(text)).toEqual(command);
});

test.each([
  ["/skill:review  this\nfile ", { name: "skill:review", argument: "this\nfile" }],
  ["/etc/hosts is wrong", { name: "etc/hosts", argument: "is wrong" }],
  ["a /name", undefined],
  ["/", undefined],
])("with any name, %j is parsed as %j", (text, command) => {
  expect(parseSlashCommand(text)).toEqual(command);
});

/** A surface that has two commands, and refers to another one for the others. */
const commands = {
  ...Object.fromEntries(slashCommandNames.map((name) => [name, { kind: "elsewhere", hint: "Elsewhere." }])),
  model: { kind: "here", run: () => {} },
  theme: { kind: "here", run: () => {}, shown: { description: "Light or dark" } },
} as unknown as SurfaceCommands<unknown>;

test("a surface lists the commands that it has, with its own texts where it has some", () => {
  expect(listCommandsHere(commands)).toEqual([
    { name: "model", description: "Choose a model", argument: "NAME" },
    { name: "theme", description: "Light or dark", yields: true },
  ]);
  expect(listCommandsHere(commands).map(formatUsage)).toEqual(["/model [NAME]", "/theme"]);
});

test.each([
  ["model", "here"],
  ["quit", undefined],
  ["constructor", undefined],
])("the command %s of this surface is %s", (name, kind) => {
  expect(findCommandHere(commands, name)?.kind).toBe(kind);
});
