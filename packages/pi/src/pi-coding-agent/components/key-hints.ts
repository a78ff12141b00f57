/** Keys as they are named in hints. */
import {
  type EditorAction,
  getEditorKeybindings,
  getKeybindings,
  type Keybinding,
  type KeybindingsManager,
} from "@tau/tui";
import { theme } from "../theme/theme.ts";

/** Actions of the program had no prefix in earlier versions. */
const findKeys = (keybindings: KeybindingsManager, action: string): string =>
  [action, `app.${action}`]
    .map((name) => keybindings.getKeys(name as Keybinding).join("/"))
    .find((keys) => keys !== "") ?? "";

/** Finds the keys also by the names that actions of the editor had before. */
export const keyText = (keybinding: string): string =>
  findKeys(getKeybindings(), keybinding) ||
  getEditorKeybindings()
    .getKeys(keybinding as EditorAction)
    .join("/");
export const editorKey = keyText;
export const appKey = (keybindings: KeybindingsManager, action: string): string => findKeys(keybindings, action);

export const rawKeyHint = (key: string, description: string): string =>
  theme.fg("dim", key) + theme.fg("muted", ` ${description}`);

export const keyHint = (keybinding: string, description: string): string =>
  rawKeyHint(keyText(keybinding), description);

export const appKeyHint = (keybindings: KeybindingsManager, action: string, description: string): string =>
  rawKeyHint(appKey(keybindings, action), description);
