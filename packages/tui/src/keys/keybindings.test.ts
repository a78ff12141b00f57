import { afterEach, expect, test } from "vitest";
import {
  DEFAULT_EDITOR_KEYBINDINGS,
  EditorKeybindingsManager,
  getEditorKeybindings,
  setEditorKeybindings,
} from "./editor-keybindings.ts";
import { getKeybindings, KeybindingsManager, setKeybindings, TUI_KEYBINDINGS } from "./keybindings.ts";

afterEach(() => setKeybindings(new KeybindingsManager(TUI_KEYBINDINGS)));

const create = (userBindings = {}) => new KeybindingsManager(TUI_KEYBINDINGS, userBindings);

test("what the user chose replaces the defaults of that action and of no other", () => {
  const keybindings = create({ "tui.editor.cursorUp": ["up", "ctrl+p", "Ctrl+P"], "tui.input.tab": [] });
  expect(keybindings.getKeys("tui.editor.cursorUp")).toEqual(["up", "ctrl+p"]);
  expect(keybindings.getKeys("tui.input.tab")).toEqual([]);
  expect(keybindings.getKeys("tui.select.up")).toEqual(["up"]);
  expect(keybindings.matches("\x10", "tui.editor.cursorUp")).toBe(true);
  expect(keybindings.matches("\t", "tui.input.tab")).toBe(false);
  keybindings.setUserBindings({});
  expect(keybindings.matches("\t", "tui.input.tab")).toBe(true);
});

test("a choice that is undefined or belongs to no action changes nothing", () => {
  const userBindings = { "tui.editor.yank": undefined, "other.action": "x" };
  const keybindings = create(userBindings);
  expect(keybindings.getKeys("tui.editor.yank")).toEqual(["ctrl+y"]);
  expect(keybindings.getUserBindings()).toEqual(userBindings);
  expect(keybindings.getResolvedBindings()).toEqual(create().getResolvedBindings());
});

test("resolved bindings are a key, or a list of several or of none", () => {
  const resolved = create({ "tui.input.tab": [] }).getResolvedBindings();
  expect([resolved["tui.input.tab"], resolved["tui.select.up"], resolved["tui.select.cancel"]]).toEqual([
    [],
    "up",
    ["escape", "ctrl+c"],
  ]);
});

test("two actions conflict if the user gave them the same key, in whatever spelling", () => {
  expect(create().getConflicts()).toEqual([]);
  expect(create({ "tui.editor.cursorUp": "down" }).getConflicts()).toEqual([]);
  expect(
    create({ "tui.editor.cursorUp": ["up", "ctrl+shift+p"], "tui.select.up": "shift+ctrl+p" }).getConflicts(),
  ).toEqual([{ key: "ctrl+shift+p", keybindings: ["tui.editor.cursorUp", "tui.select.up"] }]);
  // In the order of the user.
  expect(create({ "tui.select.up": "f5", "tui.editor.cursorUp": "f5" }).getConflicts()).toEqual([
    { key: "f5", keybindings: ["tui.select.up", "tui.editor.cursorUp"] },
  ]);
});

test("a list of keys that was handed out is not the list of the manager", () => {
  const keybindings = create();
  keybindings.getKeys("tui.select.up").push("x");
  expect(keybindings.getKeys("tui.select.up")).toEqual(["up"]);
});

test("the older names have the same keys as the new ones", () => {
  expect(DEFAULT_EDITOR_KEYBINDINGS.selectCancel).toEqual(["escape", "ctrl+c"]);
  expect(DEFAULT_EDITOR_KEYBINDINGS.cursorLineStart).toEqual(["home", "ctrl+a"]);
  expect(DEFAULT_EDITOR_KEYBINDINGS.expandTools).toBe("ctrl+o");
  expect(Object.keys(DEFAULT_EDITOR_KEYBINDINGS)).toHaveLength(39);
  setKeybindings(create({ "tui.select.confirm": "ctrl+y" }));
  expect(getEditorKeybindings().matches("\x19", "selectConfirm")).toBe(true);
  expect(getEditorKeybindings().getKeys("expandTools")).toEqual(["ctrl+o"]);
  expect(getEditorKeybindings()).toBe(getEditorKeybindings());
});

test("keys that are set by their older names are those of all components", () => {
  const manager = new EditorKeybindingsManager({ submit: "ctrl+s" });
  setEditorKeybindings(manager);
  expect(getEditorKeybindings()).toBe(manager);
  expect(getKeybindings().matches("\x13", "tui.input.submit")).toBe(true);
  manager.setConfig({});
  expect(getKeybindings().getKeys("tui.input.submit")).toEqual(["enter"]);
});
