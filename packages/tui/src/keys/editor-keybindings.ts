/** The older names of the keybindings, for interfaces that were written for them: actions without `tui.` before them. */
import type { KeyId } from "./key.ts";
import {
  getKeybindings,
  type Keybinding,
  type KeybindingDefinition,
  type KeybindingDefinitions,
  KeybindingsManager,
  setKeybindings,
  TUI_KEYBINDINGS,
} from "./keybindings.ts";
import { matchesKey } from "./match.ts";

/** Actions of a program that were once among those of the editor. The program defines them now. */
const programActions = {
  expandTools: { id: "app.tools.expand", defaultKeys: "ctrl+o" },
  treeFoldOrUp: { id: "app.tree.foldOrUp", defaultKeys: ["ctrl+left", "alt+left"] },
  treeUnfoldOrDown: { id: "app.tree.unfoldOrDown", defaultKeys: ["ctrl+right", "alt+right"] },
  toggleSessionPath: { id: "app.session.togglePath", defaultKeys: "ctrl+p" },
  toggleSessionSort: { id: "app.session.toggleSort", defaultKeys: "ctrl+s" },
  renameSession: { id: "app.session.rename", defaultKeys: "ctrl+r" },
  deleteSession: { id: "app.session.delete", defaultKeys: "ctrl+d" },
  deleteSessionNoninvasive: { id: "app.session.deleteNoninvasive", defaultKeys: "ctrl+backspace" },
} as const satisfies Record<string, KeybindingDefinition & { id: string }>;

type TuiId = keyof typeof TUI_KEYBINDINGS;
/** Actions that came after the names changed have no old name. */
type NamedId = Exclude<TuiId, `tui.altScreen.${string}` | `tui.editor.history${string}`>;
type OldName<Id> = Id extends `tui.select.${infer Name}`
  ? `select${Capitalize<Name>}`
  : Id extends `tui.${string}.${infer Name}`
    ? Name
    : never;

export type EditorAction = OldName<NamedId> | keyof typeof programActions;

export type EditorKeybindingsConfig = { [Action in EditorAction]?: KeyId | KeyId[] };

const idsByAction = new Map<string, string>([
  ...Object.keys(TUI_KEYBINDINGS)
    .filter((id) => !/^tui\.(?:altScreen\.|editor\.history)/.test(id))
    .map((id): [string, string] => [toOldName(id), id]),
  ...Object.entries(programActions).map(([action, { id }]): [string, string] => [action, id]),
]);

function toOldName(id: string): string {
  const [, group, name = ""] = id.split(".");
  return group === "select" ? `select${name.charAt(0).toUpperCase()}${name.slice(1)}` : name;
}

const definitions: KeybindingDefinitions = {
  ...TUI_KEYBINDINGS,
  ...Object.fromEntries(Object.values(programActions).map(({ id, defaultKeys }) => [id, { defaultKeys }])),
};

export const DEFAULT_EDITOR_KEYBINDINGS = Object.fromEntries(
  [...idsByAction].map(([action, id]) => [action, definitions[id]?.defaultKeys]),
) as Required<EditorKeybindingsConfig>;

export class EditorKeybindingsManager {
  readonly #keybindings: KeybindingsManager;

  /** With a configuration, or as a view of keybindings by their new names. */
  constructor(config: EditorKeybindingsConfig | KeybindingsManager = {}) {
    const isView = config instanceof KeybindingsManager;
    this.#keybindings = isView ? config : new KeybindingsManager(definitions, toUserBindings(config));
  }

  /** The keys by their new names. */
  get keybindings(): KeybindingsManager {
    return this.#keybindings;
  }

  matches(data: string, action: EditorAction): boolean {
    return this.getKeys(action).some((key) => matchesKey(data, key));
  }

  getKeys(action: EditorAction): KeyId[] {
    const id = idsByAction.get(action) as Keybinding;
    if (this.#keybindings.getDefinition(id)) return this.#keybindings.getKeys(id);
    return [definitions[id]?.defaultKeys ?? []].flat();
  }

  setConfig(config: EditorKeybindingsConfig): void {
    this.#keybindings.setUserBindings(toUserBindings(config));
  }
}

const toUserBindings = (config: EditorKeybindingsConfig) =>
  Object.fromEntries(Object.entries(config).map(([action, keys]) => [idsByAction.get(action) ?? action, keys]));

let current: EditorKeybindingsManager | undefined;

/** The keys that `getKeybindings` has, by their old names. */
export function getEditorKeybindings(): EditorKeybindingsManager {
  const keybindings = getKeybindings();
  if (current?.keybindings !== keybindings) current = new EditorKeybindingsManager(keybindings);
  return current;
}

/** Sets the keys of all components in this process. */
export function setEditorKeybindings(manager: EditorKeybindingsManager): void {
  current = manager;
  setKeybindings(manager.keybindings);
}
