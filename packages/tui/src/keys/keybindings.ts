/** Which keys do what. Programs add definitions of their own to those of the components. */
import { type KeyId, normalizeKey } from "./key.ts";
import { matchesKey } from "./match.ts";

export interface KeybindingDefinition {
  defaultKeys: KeyId | KeyId[];
  description?: string;
}

export type KeybindingDefinitions = Record<string, KeybindingDefinition>;

/** What a user chose. It replaces the defaults of the action; an empty list leaves the action without a key. */
export type KeybindingsConfig = Record<string, KeyId | KeyId[] | undefined>;

/** A key that the user bound to several actions. */
export interface KeybindingConflict {
  key: KeyId;
  keybindings: string[];
}

/** The actions of the components in this package. */
export const TUI_KEYBINDINGS = {
  "tui.editor.cursorUp": { defaultKeys: "up", description: "Move cursor up" },
  "tui.editor.cursorDown": { defaultKeys: "down", description: "Move cursor down" },
  "tui.editor.historyPrevious": { defaultKeys: [], description: "Select previous prompt history entry" },
  "tui.editor.historyNext": { defaultKeys: [], description: "Select next prompt history entry" },
  "tui.editor.cursorLeft": { defaultKeys: ["left", "ctrl+b"], description: "Move cursor left" },
  "tui.editor.cursorRight": { defaultKeys: ["right", "ctrl+f"], description: "Move cursor right" },
  "tui.editor.cursorWordLeft": {
    defaultKeys: ["alt+left", "ctrl+left", "alt+b"],
    description: "Move cursor word left",
  },
  "tui.editor.cursorWordRight": {
    defaultKeys: ["alt+right", "ctrl+right", "alt+f"],
    description: "Move cursor word right",
  },
  "tui.editor.cursorLineStart": { defaultKeys: ["home", "ctrl+a"], description: "Move to line start" },
  "tui.editor.cursorLineEnd": { defaultKeys: ["end", "ctrl+e"], description: "Move to line end" },
  "tui.editor.jumpForward": { defaultKeys: "ctrl+]", description: "Jump forward to character" },
  "tui.editor.jumpBackward": { defaultKeys: "ctrl+alt+]", description: "Jump backward to character" },
  "tui.editor.pageUp": { defaultKeys: ["pageUp", "ctrl+pageUp"], description: "Page up" },
  "tui.editor.pageDown": { defaultKeys: ["pageDown", "ctrl+pageDown"], description: "Page down" },
  "tui.editor.deleteCharBackward": { defaultKeys: "backspace", description: "Delete character backward" },
  "tui.editor.deleteCharForward": { defaultKeys: ["delete", "ctrl+d"], description: "Delete character forward" },
  "tui.editor.deleteWordBackward": { defaultKeys: ["ctrl+w", "alt+backspace"], description: "Delete word backward" },
  "tui.editor.deleteWordForward": { defaultKeys: ["alt+d", "alt+delete"], description: "Delete word forward" },
  "tui.editor.deleteToLineStart": { defaultKeys: "ctrl+u", description: "Delete to line start" },
  "tui.editor.deleteToLineEnd": { defaultKeys: "ctrl+k", description: "Delete to line end" },
  "tui.editor.yank": { defaultKeys: "ctrl+y", description: "Yank" },
  "tui.editor.yankPop": { defaultKeys: "alt+y", description: "Yank pop" },
  "tui.editor.undo": { defaultKeys: "ctrl+-", description: "Undo" },
  "tui.input.newLine": { defaultKeys: ["shift+enter", "ctrl+j"], description: "Insert newline" },
  "tui.input.submit": { defaultKeys: "enter", description: "Submit input" },
  "tui.input.tab": { defaultKeys: "tab", description: "Tab / autocomplete" },
  "tui.input.copy": { defaultKeys: "ctrl+c", description: "Copy selection" },
  "tui.select.up": { defaultKeys: "up", description: "Move selection up" },
  "tui.select.down": { defaultKeys: "down", description: "Move selection down" },
  "tui.select.pageUp": { defaultKeys: "pageUp", description: "Selection page up" },
  "tui.select.pageDown": { defaultKeys: "pageDown", description: "Selection page down" },
  "tui.select.confirm": { defaultKeys: "enter", description: "Confirm selection" },
  "tui.select.cancel": { defaultKeys: ["escape", "ctrl+c"], description: "Cancel selection" },
  "tui.altScreen.pageUp": { defaultKeys: "pageUp", description: "Scroll viewport up one page" },
  "tui.altScreen.pageDown": { defaultKeys: "pageDown", description: "Scroll viewport down one page" },
  "tui.altScreen.halfPageUp": { defaultKeys: [], description: "Scroll viewport up half a page" },
  "tui.altScreen.halfPageDown": { defaultKeys: [], description: "Scroll viewport down half a page" },
  "tui.altScreen.lineUp": { defaultKeys: [], description: "Scroll viewport up one line" },
  "tui.altScreen.lineDown": { defaultKeys: [], description: "Scroll viewport down one line" },
  "tui.altScreen.previousPrompt": {
    defaultKeys: ["ctrl+shift+up", "ctrl+up"],
    description: "Jump to previous semantic prompt",
  },
  "tui.altScreen.nextPrompt": {
    defaultKeys: ["ctrl+shift+down", "ctrl+down"],
    description: "Jump to next semantic prompt",
  },
  "tui.altScreen.search": { defaultKeys: "ctrl+shift+f", description: "Search the primary scroll view" },
  "tui.altScreen.searchNext": { defaultKeys: ["enter", "ctrl+g"], description: "Select the next search match" },
  "tui.altScreen.searchPrevious": {
    defaultKeys: ["shift+enter", "ctrl+shift+g"],
    description: "Select the previous search match",
  },
  "tui.altScreen.searchClose": { defaultKeys: "escape", description: "Close transcript search" },
  "tui.altScreen.top": { defaultKeys: "ctrl+home", description: "Scroll viewport to top" },
  "tui.altScreen.bottom": { defaultKeys: "ctrl+end", description: "Scroll viewport to bottom" },
} as const satisfies KeybindingDefinitions;

type TuiKeybindings = Record<keyof typeof TUI_KEYBINDINGS, true>;

/** All actions. A program adds its own by declaration merging. */
export interface Keybindings extends TuiKeybindings {}

export type Keybinding = keyof Keybindings;

export class KeybindingsManager {
  readonly #definitions: KeybindingDefinitions;
  #userBindings: KeybindingsConfig = {};
  #keys = new Map<string, KeyId[]>();

  constructor(definitions: KeybindingDefinitions, userBindings: KeybindingsConfig = {}) {
    this.#definitions = definitions;
    this.setUserBindings(userBindings);
  }

  matches(data: string, keybinding: Keybinding): boolean {
    return (this.#keys.get(keybinding) ?? []).some((key) => matchesKey(data, key));
  }

  getKeys(keybinding: Keybinding): KeyId[] {
    return [...(this.#keys.get(keybinding) ?? [])];
  }

  getDefinition(keybinding: Keybinding): KeybindingDefinition {
    return this.#definitions[keybinding] as KeybindingDefinition;
  }

  /** Only among what the user chose: defaults share keys on purpose, for they are active in different places. */
  getConflicts(): KeybindingConflict[] {
    const byKey = new Map<string, KeybindingConflict>();
    for (const [id, keys] of this.#keys) {
      if (this.#userBindings[id] === undefined) continue;
      for (const key of keys) {
        const normalized = normalizeKey(key);
        const conflict = byKey.get(normalized);
        if (conflict) conflict.keybindings.push(id);
        else byKey.set(normalized, { key, keybindings: [id] });
      }
    }
    return [...byKey.values()].filter((conflict) => conflict.keybindings.length > 1);
  }

  /** Replaces all that the user chose before. What belongs to no definition is kept, but has no effect. */
  setUserBindings(userBindings: KeybindingsConfig): void {
    this.#userBindings = { ...userBindings };
    this.#keys = new Map(
      Object.entries(this.#definitions).map(([id, { defaultKeys }]) => [
        id,
        toKeys(this.#userBindings[id] ?? defaultKeys),
      ]),
    );
  }

  getUserBindings(): KeybindingsConfig {
    return { ...this.#userBindings };
  }

  /** All keys of all actions; one key alone is not in a list. */
  getResolvedBindings(): KeybindingsConfig {
    return Object.fromEntries([...this.#keys].map(([id, keys]) => [id, keys.length === 1 ? keys[0] : [...keys]]));
  }
}

/** Each key once, however it is spelled. */
function toKeys(keys: KeyId | KeyId[]): KeyId[] {
  const list = typeof keys === "string" ? [keys] : keys;
  return list.filter((key, index) => list.findIndex((other) => normalizeKey(other) === normalizeKey(key)) === index);
}

let current: KeybindingsManager | undefined;

/** The keys of all components in this process. */
export function getKeybindings(): KeybindingsManager {
  current ??= new KeybindingsManager(TUI_KEYBINDINGS);
  return current;
}

export function setKeybindings(keybindings: KeybindingsManager): void {
  current = keybindings;
}
