/** Keys of dialogs. The terminal's own bindings apply; without them, the usual keys. */
import { getKeybindings, type Keybinding, type KeyId, matchesKey } from "@tau/tui";

const usualKeys: Readonly<Record<string, readonly string[]>> = {
  "app.tree.foldOrUp": ["ctrl+left", "alt+left"],
  "app.tree.unfoldOrDown": ["ctrl+right", "alt+right"],
  "app.tree.editLabel": ["shift+l"],
  "app.tree.filter.default": ["ctrl+d"],
  "app.tree.filter.noTools": ["ctrl+t"],
  "app.tree.filter.userOnly": ["ctrl+u"],
  "app.tree.filter.labeledOnly": ["ctrl+l"],
  "app.tree.filter.all": ["ctrl+a"],
  "app.tree.filter.cycleForward": ["ctrl+o"],
  "app.tree.filter.cycleBackward": ["shift+ctrl+o"],
  "app.session.toggleSort": ["ctrl+s"],
  "app.session.toggleNamedFilter": ["ctrl+n"],
  "app.session.togglePath": ["ctrl+p"],
  "app.session.rename": ["ctrl+r"],
  "app.session.delete": ["ctrl+d"],
  "app.session.deleteNoninvasive": ["ctrl+backspace"],
};

export function isAction(data: string, action: string): boolean {
  return getActionKeys(action).some((key) => matchesKey(data, key as KeyId));
}

export function getActionKeys(action: string): readonly string[] {
  const keys = getKeybindings().getKeys(action as Keybinding);
  return keys.length > 0 ? keys : (usualKeys[action] ?? []);
}

/** A character that belongs to a text; undefined for other keys. */
export function getTypedText(data: string): string | undefined {
  return [...data].every((char) => char >= " " && char !== "\u007f") && data !== "" ? data : undefined;
}
