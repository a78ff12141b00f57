import { expect, test } from "vitest";
import { parseKeybindings } from "./keybindings-file.ts";
import { keybindingDefinitions } from "./keybindings.ts";

const parse = (content: unknown) =>
  parseKeybindings(typeof content === "string" ? content : JSON.stringify(content), "keys.json", keybindingDefinitions);

test("a key, a list of keys and an empty list are taken, and a schema is no action", () => {
  const content = {
    $schema: "x",
    "app.session.new": "ctrl+shift+n",
    "app.exit": ["f10", "Super+K"],
    "app.suspend": [],
  };
  expect(parse(content)).toEqual({
    config: { "app.session.new": ["ctrl+shift+n"], "app.exit": ["f10", "Super+K"], "app.suspend": [] },
    problems: [],
  });
});

test.each([
  [{ "app.sesion.new": "f9" }, 'keys.json: there is no action "app.sesion.new". Did you mean "app.session.new"?'],
  [{ "app.exit": "ctrl+banana" }, 'keys.json: app.exit: there is no key "ctrl+banana".'],
  [{ "app.exit": 5 }, "keys.json: app.exit is not a key, and no list of keys."],
  [[], "keys.json is not an object with keys by action."],
  ["{", expect.stringContaining("keys.json is not JSON: ")],
])("%j is told, and the defaults stay", (content, problem) => {
  expect(parse(content)).toEqual({ config: {}, problems: [problem] });
});

test("what is right counts beside what is wrong", () => {
  const { config } = parse({ "app.exit": ["f10", "nothing"], "no.action": "f1" });
  expect(config).toEqual({ "app.exit": ["f10"] });
});

test.each([
  [
    "two actions of the user",
    { "app.session.new": "f9", "app.session.fork": "f9" },
    ["app.session.new", "app.session.fork"],
  ],
  ["an action of the user and a default", { "app.session.new": "ctrl+l" }, ["app.session.new", "app.model.select"]],
  [
    "two actions of the user and a default",
    { "app.session.new": "ctrl+l", "app.session.fork": "ctrl+l" },
    ["app.session.new", "app.session.fork", "app.model.select"],
  ],
])("a key of %s is one conflict if they count in one place", (_name, content, ids) => {
  const { problems } = parse(content);
  expect(problems).toHaveLength(1);
  for (const id of ids) expect(problems[0]).toContain(id);
});

test.each([
  ["actions of different places", { "app.tree.editLabel": "f9", "app.session.rename": "f9" }],
  ["a default that is written out", { "app.exit": "ctrl+d", "app.clear": "ctrl+c" }],
])("%s may share a key", (_name, content) => {
  expect(parse(content).problems).toEqual([]);
});
