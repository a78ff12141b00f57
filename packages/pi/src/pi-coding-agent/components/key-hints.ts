/** Keys as they are named in hints. */
import { getKeybindings, type Keybinding, type KeybindingsManager } from "@tau/tui";
import { theme } from "../theme/theme.ts";

/** Actions of earlier versions had no prefix. */
const prefixes = ["", "tui.editor.", "tui.input.", "tui.select.", "app."];

function findKeys(keybindings: KeybindingsManager, action: string): string {
  for (const prefix of prefixes) {
    const keys = keybindings.getKeys(`${prefix}${action}` as Keybinding);
    if (keys.length > 0) return keys.join("/");
  }
  return "";
}

export const keyText = (keybinding: string): string => findKeys(getKeybindings(), keybinding);
export const editorKey = keyText;
export const appKey = (keybindings: KeybindingsManager, action: string): string => findKeys(keybindings, action);

export const rawKeyHint = (key: string, description: string): string =>
  theme.fg("dim", key) + theme.fg("muted", ` ${description}`);

export const keyHint = (keybinding: string, description: string): string =>
  rawKeyHint(keyText(keybinding), description);

export const appKeyHint = (keybindings: KeybindingsManager, action: string, description: string): string =>
  rawKeyHint(appKey(keybindings, action), description);
