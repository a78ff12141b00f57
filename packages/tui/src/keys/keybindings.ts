/** Which keys do what. Programs add definitions of their own to those of the components. */
import { type KeyId, normalizeKey } from "./key.ts";
import { matchesKey } from "./match.ts";

export interface KeybindingDefinition {
  defaultKeys: KeyId | KeyId[];
  description?: string;
}

export type KeybindingDefinitions = Record<string, KeybindingDefinition>;

/** The keys that a user chose. They replace the defaults of the action; an empty list leaves the action without a key. */
export type KeybindingsConfig = Record<string, KeyId | KeyId[] | undefined>;

/** A key that the user bound to several actions. */
export interface KeybindingConflict {
  key: KeyId;
  keybindings: string[];
}

/** The actions of the components in this package. */
export const TUI_KEYBINDINGS = {
  "tui.editor.cursorUp": { defaultKeys: "up", description: "One line up; at the top, the prompt before" },
  "tui.editor.cursorDown": { defaultKeys: "down", description: "One line down; at the bottom, the prompt after" },
  "tui.editor.historyPrevious": { defaultKeys: [], description: "The prompt before, from anywhere" },
  "tui.editor.historyNext": { defaultKeys: [], description: "The prompt after, from anywhere" },
  "tui.editor.cursorLeft": { defaultKeys: ["left", "ctrl+b"], description: "One character to the left" },
  "tui.editor.cursorRight": { defaultKeys: ["right", "ctrl+f"], description: "One character to the right" },
  "tui.editor.cursorWordLeft": {
    defaultKeys: ["alt+left", "ctrl+left", "alt+b"],
    description: "One word to the left",
  },
  "tui.editor.cursorWordRight": {
    defaultKeys: ["alt+right", "ctrl+right", "alt+f"],
    description: "One word to the right",
  },
  "tui.editor.cursorLineStart": { defaultKeys: ["home", "ctrl+a"], description: "To the start of the line" },
  "tui.editor.cursorLineEnd": { defaultKeys: ["end", "ctrl+e"], description: "To the end of the line" },
  "tui.editor.jumpForward": { defaultKeys: "ctrl+]", description: "Forward to the character that is typed next" },
  "tui.editor.jumpBackward": { defaultKeys: "ctrl+alt+]", description: "Back to the character that is typed next" },
  "tui.editor.pageUp": { defaultKeys: ["pageUp", "ctrl+pageUp"], description: "One page up" },
  "tui.editor.pageDown": { defaultKeys: ["pageDown", "ctrl+pageDown"], description: "One page down" },
  "tui.editor.deleteCharBackward": { defaultKeys: "backspace", description: "Delete the character before the cursor" },
  "tui.editor.deleteCharForward": {
    defaultKeys: ["delete", "ctrl+d"],
    description: "Delete the character at the cursor",
  },
  "tui.editor.deleteWordBackward": {
    defaultKeys: ["ctrl+w", "alt+backspace"],
    description: "Delete the word before the cursor",
  },
  "tui.editor.deleteWordForward": {
    defaultKeys: ["alt+d", "alt+delete"],
    description: "Delete the word after the cursor",
  },
  "tui.editor.deleteToLineStart": { defaultKeys: "ctrl+u", description: "Delete up to the start of the line" },
  "tui.editor.deleteToLineEnd": { defaultKeys: "ctrl+k", description: "Delete up to the end of the line" },
  "tui.editor.yank": { defaultKeys: "ctrl+y", description: "Insert what was deleted last" },
  "tui.editor.yankPop": { defaultKeys: "alt+y", description: "After that: insert what was deleted earlier instead" },
  "tui.editor.undo": { defaultKeys: "ctrl+-", description: "Undo the last change" },
  "tui.input.newLine": { defaultKeys: ["shift+enter", "ctrl+j"], description: "Begin a new line" },
  "tui.input.submit": { defaultKeys: "enter", description: "Send" },
  "tui.input.tab": { defaultKeys: "tab", description: "Complete" },
  "tui.input.copy": { defaultKeys: "ctrl+c", description: "Copy what is selected" },
  "tui.select.up": { defaultKeys: "up", description: "The item above" },
  "tui.select.down": { defaultKeys: "down", description: "The item below" },
  "tui.select.pageUp": { defaultKeys: "pageUp", description: "One page of items up" },
  "tui.select.pageDown": { defaultKeys: "pageDown", description: "One page of items down" },
  "tui.select.confirm": { defaultKeys: "enter", description: "Choose" },
  "tui.select.cancel": { defaultKeys: ["escape", "ctrl+c"], description: "Close without choosing" },
  "tui.altScreen.pageUp": { defaultKeys: "pageUp", description: "Scroll up one page" },
  "tui.altScreen.pageDown": { defaultKeys: "pageDown", description: "Scroll down one page" },
  "tui.altScreen.halfPageUp": { defaultKeys: [], description: "Scroll up half a page" },
  "tui.altScreen.halfPageDown": { defaultKeys: [], description: "Scroll down half a page" },
  "tui.altScreen.lineUp": { defaultKeys: [], description: "Scroll up one line" },
  "tui.altScreen.lineDown": { defaultKeys: [], description: "Scroll down one line" },
  "tui.altScreen.previousPrompt": {
    defaultKeys: ["ctrl+shift+up", "ctrl+up"],
    description: "To the message before",
  },
  "tui.altScreen.nextPrompt": {
    defaultKeys: ["ctrl+shift+down", "ctrl+down"],
    description: "To the message after",
  },
  "tui.altScreen.search": { defaultKeys: "ctrl+shift+f", description: "Search" },
  "tui.altScreen.searchNext": { defaultKeys: ["enter", "ctrl+g"], description: "The next match" },
  "tui.altScreen.searchPrevious": {
    defaultKeys: ["shift+enter", "ctrl+shift+g"],
    description: "The match before",
  },
  "tui.altScreen.searchClose": { defaultKeys: "escape", description: "Close the search" },
  "tui.altScreen.top": { defaultKeys: "ctrl+home", description: "To the beginning" },
  "tui.altScreen.bottom": { defaultKeys: "ctrl+end", description: "To the end, and follow it" },
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
    for (const id of Object.keys(this.#userBindings)) {
      for (const key of this.#keys.get(id) ?? []) {
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
