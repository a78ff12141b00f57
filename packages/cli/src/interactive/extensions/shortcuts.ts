/** Keys of extensions. */
import { slashCommandNames, slashCommands } from "@tau/protocol/surface";
import type { BuiltIns } from "@tau/extensions";
import { type Keybinding, type KeybindingsManager, type KeyId, matchesKey } from "@tau/tui";
import { editorActions, keybindingDefinitions } from "../keybindings.ts";
import type { LoadedExtensions } from "./extension-client.ts";

/** The key of an extension that was pressed. */
export function findShortcut(data: string, loaded: LoadedExtensions): string | undefined {
  // Asked for every key.
  if (loaded.list.every(({ shortcuts }) => shortcuts.size === 0)) return undefined;
  return [...loaded.registrations.shortcuts.keys()].find((key) => matchesKey(data, key as KeyId));
}

/** Lists the terminal's own keys and commands: extensions can have others. */
export function listBuiltIns(keybindings: KeybindingsManager): BuiltIns {
  const ids = Object.keys(keybindingDefinitions).filter((id) => !(editorActions as readonly string[]).includes(id));
  const keys = new Map<string, string>();
  // A key may do different things in different places. What it does while the user writes matters most, and comes last.
  const editing = (id: string) => (id.startsWith("tui.input.") || id.startsWith("tui.editor.") ? 1 : 0);
  for (const id of [...ids.toSorted((a, b) => editing(a) - editing(b)), ...editorActions]) {
    for (const key of keybindings.getKeys(id as Keybinding)) keys.set(key, id);
  }
  return { commands: slashCommandNames.filter((name) => !slashCommands[name].yields), keys };
}
