import { systemClock } from "@tau/ai";
import { describe, expect, test } from "vitest";
import { createRegistrations, type Extension } from "../api/extension.ts";
import { createWaits } from "../runner/waits.ts";
import { isReservedAction, normaliseKey, resolveConflicts } from "./conflicts.ts";

interface Names {
  tools?: string[];
  flags?: string[];
  commands?: string[];
  shortcuts?: string[];
}

/** Definitions name their extension, so that a result shows whose it is. */
function create(name: string, names: Names): Extension {
  const registrations = createRegistrations();
  const path = `/${name}.ts`;
  for (const kind of ["tools", "flags", "commands", "shortcuts"] as const) {
    for (const key of names[kind] ?? []) (registrations[kind] as Map<string, unknown>).set(key, { description: name });
  }
  const info = { path, source: "local", scope: "user", origin: "top-level" } as const;
  const source = { id: path, name, path, origin: "user", digest: "", info } as const;
  return {
    ...registrations,
    source,
    state: "trusted",
    host: "process",
    waits: createWaits(systemClock),
    close: async () => {},
  };
}

const owners = (map: ReadonlyMap<string, { definition: { description?: string } }>) =>
  Object.fromEntries([...map].map(([key, { definition }]) => [key, definition.description]));

const none = { commands: [], keys: new Map<string, string>() };

describe("resolveConflicts", () => {
  test("ten thousand commands cost no more than their number", () => {
    const names = Array.from({ length: 10_000 }, (_unused, index) => `command-${index}`);
    const extension = create("many", { commands: names });
    const before = process.cpuUsage();
    for (let count = 0; count < 20; count++) resolveConflicts([extension], none);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  test("the first tool and the first flag of a name count", () => {
    const first = create("first", { tools: ["read", "todo"], flags: ["plan"] });
    const second = create("second", { tools: ["todo", "other"], flags: ["plan"] });
    const { tools, flags, problems } = resolveConflicts([first, second], none);
    expect(owners(tools)).toEqual({ read: "first", todo: "first", other: "second" });
    expect(owners(flags)).toEqual({ plan: "first" });
    expect(problems).toEqual([
      { extension: "second", message: "Its tool todo is not used: first has one of that name." },
      { extension: "second", message: "Its flag plan is not used: first has one of that name." },
    ]);
  });

  test("commands of one name get numbers, and those of tau are kept", () => {
    const first = create("first", { commands: ["review", "model", "alone"] });
    const second = create("second", { commands: ["review"] });
    const { commands, problems } = resolveConflicts([first, second], { ...none, commands: ["model"] });
    expect(owners(commands)).toEqual({ "review:1": "first", "review:2": "second", alone: "first" });
    expect(problems).toEqual([
      {
        extension: "first",
        message: "Its command /review is called /review:1: another extension has one of that name.",
      },
      { extension: "first", message: "Its command /model is not used: tau has one of that name." },
      {
        extension: "second",
        message: "Its command /review is called /review:2: another extension has one of that name.",
      },
    ]);
  });

  test("a number that makes the name of another command is left out", () => {
    const extensions = ["first", "second"].map((name) => create(name, { commands: ["deploy"] }));
    const third = create("third", { commands: ["deploy:1"] });
    const { commands } = resolveConflicts([...extensions, third], none);
    expect(owners(commands)).toEqual({ "deploy:1": "third", "deploy:2": "first", "deploy:3": "second" });
  });

  test("a reserved key is not taken under another name", () => {
    const keys = new Map([["escape", "app.interrupt"]]);
    const { shortcuts, problems } = resolveConflicts([create("first", { shortcuts: ["esc"] })], { ...none, keys });
    expect(owners(shortcuts)).toEqual({});
    expect(problems).toEqual([
      { extension: "first", message: "Its shortcut esc is not used: the key belongs to app.interrupt." },
    ]);
  });

  test("the last shortcut counts, also instead of a built-in one that is not reserved", () => {
    const keys = new Map([
      ["ctrl+o", "app.tools.expand"],
      ["shift+ctrl+p", "app.session.togglePath"],
    ]);
    const first = create("first", { shortcuts: ["ctrl+o", "ctrl+shift+p"] });
    const second = create("second", { shortcuts: ["Shift+Ctrl+P", "ctrl+y"] });
    const { shortcuts, problems } = resolveConflicts([first, second], { ...none, keys });
    expect(owners(shortcuts)).toEqual({ "ctrl+shift+p": "second", "ctrl+y": "second" });
    expect(problems).toEqual([
      { extension: "first", message: "Its shortcut ctrl+o is not used: the key belongs to app.tools.expand." },
      { extension: "first", message: "Its shortcut ctrl+shift+p takes the key of app.session.togglePath." },
      { extension: "first", message: "Its shortcut Shift+Ctrl+P is not used: second has the same key." },
    ]);
  });
});

test.each([
  ["app.interrupt", true],
  ["app.model.cycleForward", true],
  ["app.models", false],
  ["app.thinking.cycle", true],
  ["app.message.followUp", true],
  ["app.message.dequeue", false],
  ["tui.input.submit", true],
  ["tui.select.confirm", true],
  ["tui.editor.deleteToLineEnd", true],
  ["tui.editor.cursorUp", false],
])("%s is reserved: %s", (action, expected) => {
  expect(isReservedAction(action)).toBe(expected);
});

test.each([
  ["Shift+Ctrl+P", "ctrl+shift+p"],
  ["ctrl++", "ctrl++"],
  ["+", "+"],
  ["escape", "escape"],
  ["alt+ctrl+shift+enter", "alt+ctrl+shift+enter"],
  ["Esc", "escape"],
  ["shift+return", "shift+enter"],
  ["ctrl+ctrl+c", "ctrl+c"],
])("the key %s is %s", (key, expected) => {
  expect(normaliseKey(key)).toBe(expected);
});
