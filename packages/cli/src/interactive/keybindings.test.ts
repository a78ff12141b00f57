import { describe, expect, test } from "vitest";
import { createKeybindings, getKeybindingDefinitions, keybindingDefinitions, type KeyPlatform } from "./keybindings.ts";

/** Actions that pi does not have. */
const own = {
  "app.editor.redo": [],
  "app.role.cycle": ["alt+r"],
  "app.permissions.cycle": ["alt+m"],
  "app.plan.toggle": ["alt+n"],
  "app.agents.open": ["alt+a"],
  "app.prompts.search": ["ctrl+r"],
  "app.session.searchMessages": ["ctrl+f"],
};

/** All actions of pi 1.5.0 with their default keys. */
const defaults: Readonly<Record<string, readonly string[]>> = {
  "tui.editor.cursorUp": ["up"],
  "tui.editor.cursorDown": ["down"],
  "tui.editor.historyPrevious": [],
  "tui.editor.historyNext": [],
  "tui.editor.cursorLeft": ["left", "ctrl+b"],
  "tui.editor.cursorRight": ["right", "ctrl+f"],
  "tui.editor.cursorWordLeft": ["alt+left", "ctrl+left", "alt+b"],
  "tui.editor.cursorWordRight": ["alt+right", "ctrl+right", "alt+f"],
  "tui.editor.cursorLineStart": ["home", "ctrl+a"],
  "tui.editor.cursorLineEnd": ["end", "ctrl+e"],
  "tui.editor.jumpForward": ["ctrl+]"],
  "tui.editor.jumpBackward": ["ctrl+alt+]"],
  "tui.editor.pageUp": ["pageUp", "ctrl+pageUp"],
  "tui.editor.pageDown": ["pageDown", "ctrl+pageDown"],
  "tui.editor.deleteCharBackward": ["backspace"],
  "tui.editor.deleteCharForward": ["delete", "ctrl+d"],
  "tui.editor.deleteWordBackward": ["ctrl+w", "alt+backspace"],
  "tui.editor.deleteWordForward": ["alt+d", "alt+delete"],
  "tui.editor.deleteToLineStart": ["ctrl+u"],
  "tui.editor.deleteToLineEnd": ["ctrl+k"],
  "tui.editor.yank": ["ctrl+y"],
  "tui.editor.yankPop": ["alt+y"],
  "tui.editor.undo": ["ctrl+-"],
  "tui.input.newLine": ["shift+enter", "ctrl+j"],
  "tui.input.submit": ["enter"],
  "tui.input.tab": ["tab"],
  "tui.input.copy": ["ctrl+c"],
  "tui.select.up": ["up"],
  "tui.select.down": ["down"],
  "tui.select.pageUp": ["pageUp"],
  "tui.select.pageDown": ["pageDown"],
  "tui.select.confirm": ["enter"],
  "tui.select.cancel": ["escape", "ctrl+c"],
  "tui.altScreen.pageUp": ["pageUp"],
  "tui.altScreen.pageDown": ["pageDown"],
  "tui.altScreen.halfPageUp": [],
  "tui.altScreen.halfPageDown": [],
  "tui.altScreen.lineUp": [],
  "tui.altScreen.lineDown": [],
  "tui.altScreen.previousPrompt": ["ctrl+shift+up", "ctrl+up"],
  "tui.altScreen.nextPrompt": ["ctrl+shift+down", "ctrl+down"],
  "tui.altScreen.search": ["ctrl+shift+f"],
  "tui.altScreen.searchNext": ["enter", "ctrl+g"],
  "tui.altScreen.searchPrevious": ["shift+enter", "ctrl+shift+g"],
  "tui.altScreen.searchClose": ["escape"],
  "tui.altScreen.top": ["ctrl+home"],
  "tui.altScreen.bottom": ["ctrl+end"],
  "app.interrupt": ["escape"],
  "app.clear": ["ctrl+c"],
  "app.exit": ["ctrl+d"],
  "app.suspend": ["ctrl+z"],
  "app.editor.external": ["ctrl+g"],
  "app.clipboard.pasteImage": ["ctrl+v"],
  "app.session.new": [],
  "app.session.tree": [],
  "app.session.fork": [],
  "app.session.resume": [],
  "app.session.togglePath": ["ctrl+p"],
  "app.session.toggleSort": ["ctrl+s"],
  "app.session.toggleNamedFilter": ["ctrl+n"],
  "app.session.rename": ["ctrl+r"],
  "app.session.delete": ["ctrl+d"],
  "app.session.deleteNoninvasive": ["ctrl+backspace"],
  "app.model.select": ["ctrl+l"],
  "app.model.cycleForward": ["ctrl+p"],
  "app.model.cycleBackward": ["shift+ctrl+p"],
  "app.models.save": ["ctrl+s"],
  "app.thinking.cycle": ["shift+tab"],
  "app.thinking.save": ["ctrl+s"],
  "app.thinking.toggle": ["ctrl+t"],
  "app.tools.expand": ["ctrl+o"],
  "app.message.copy": ["ctrl+x"],
  "app.message.followUp": ["alt+enter"],
  "app.message.dequeue": ["alt+up"],
  "app.tree.foldOrUp": ["ctrl+left", "alt+left"],
  "app.tree.unfoldOrDown": ["ctrl+right", "alt+right"],
  "app.tree.editLabel": ["shift+l"],
  "app.tree.toggleLabelTimestamp": ["shift+t"],
  "app.tree.filter.default": ["ctrl+d"],
  "app.tree.filter.noTools": ["ctrl+t"],
  "app.tree.filter.userOnly": ["ctrl+u"],
  "app.tree.filter.labeledOnly": ["ctrl+l"],
  "app.tree.filter.all": ["ctrl+a"],
  "app.tree.filter.cycleForward": ["ctrl+o"],
  "app.tree.filter.cycleBackward": ["shift+ctrl+o"],
  "app.models.enableAll": ["ctrl+a"],
  "app.models.clearAll": ["ctrl+x"],
  "app.models.toggleProvider": ["ctrl+p"],
  "app.models.reorderUp": ["alt+up"],
  "app.models.reorderDown": ["alt+down"],
};

const windows: Readonly<Record<string, readonly string[]>> = {
  "tui.editor.undo": ["ctrl+z"],
  "tui.altScreen.previousPrompt": ["ctrl+up"],
  "tui.altScreen.nextPrompt": ["ctrl+down"],
  "tui.altScreen.search": ["ctrl+f"],
  "app.suspend": [],
  "app.clipboard.pasteImage": ["alt+v"],
  "app.model.cycleBackward": ["alt+p"],
  "app.message.followUp": ["ctrl+q"],
  "app.message.dequeue": ["alt+q"],
};

const wsl: Readonly<Record<string, readonly string[]>> = {
  "tui.editor.undo": ["alt+z"],
  "tui.altScreen.previousPrompt": ["ctrl+up"],
  "tui.altScreen.nextPrompt": ["ctrl+down"],
  "tui.altScreen.search": ["ctrl+f"],
  "app.clipboard.pasteImage": ["alt+v"],
  "app.model.cycleBackward": ["alt+p"],
  "app.message.followUp": ["ctrl+q"],
  "app.message.dequeue": ["alt+q"],
};

const toKeys = (platform: KeyPlatform) =>
  Object.fromEntries(
    Object.entries(getKeybindingDefinitions(platform)).map(([id, { defaultKeys }]) => [id, [defaultKeys].flat()]),
  );

describe("the keys", () => {
  test("are pi's: 90 actions with their defaults, also on Windows and in WSL", () => {
    expect(Object.keys(defaults)).toHaveLength(90);
    const all = { ...defaults, ...own };
    expect(toKeys("other")).toEqual(all);
    expect(toKeys("windows")).toEqual({ ...all, ...windows });
    expect(toKeys("wsl")).toEqual({ ...all, ...wsl });
  });

  test.each(Object.keys({ ...defaults, ...own }))("%s can be bound to another key, and says what it does", (id) => {
    const keybindings = createKeybindings({ [id]: "f9" });
    expect(keybindings.matches("\x1b[20~", id as "app.exit")).toBe(true);
    expect(keybindingDefinitions[id]?.description).not.toBe("");
  });
});
