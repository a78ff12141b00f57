/** Key bindings of every text that is edited. */
import {
  findLeft,
  findLineEnd,
  findLineStart,
  findRight,
  moveTo,
  type Position,
  type TextDocument,
} from "../editing/document.ts";
import { findKillEnd, findKillStart, findWordLeft, findWordRight } from "../editing/movement.ts";
import type { TextEditing } from "../editing/text-editing.ts";
import { getKeybindings, type Keybinding } from "../keys/keybindings.ts";
import { decodePrintableKey, matchesKey } from "../keys/match.ts";

type Command = (editing: TextEditing) => void;

const move =
  (find: (document: TextDocument) => Position): Command =>
  (editing) =>
    editing.set(moveTo(editing.document, find(editing.document)));

const deleteLeft: Command = (editing) => editing.delete(findLeft);
const deleteRight: Command = (editing) => editing.delete(findRight);

const commands: readonly (readonly [Keybinding, Command])[] = [
  ["tui.editor.undo", (editing) => editing.undo()],
  ["tui.editor.deleteCharBackward", deleteLeft],
  ["tui.editor.deleteCharForward", deleteRight],
  ["tui.editor.deleteWordBackward", (editing) => editing.kill(findWordLeft)],
  ["tui.editor.deleteWordForward", (editing) => editing.kill(findWordRight)],
  ["tui.editor.deleteToLineStart", (editing) => editing.kill(findKillStart)],
  ["tui.editor.deleteToLineEnd", (editing) => editing.kill(findKillEnd)],
  ["tui.editor.yank", (editing) => editing.yank()],
  ["tui.editor.yankPop", (editing) => editing.yankPop()],
  ["tui.editor.cursorLeft", move(findLeft)],
  ["tui.editor.cursorRight", move(findRight)],
  ["tui.editor.cursorWordLeft", move(findWordLeft)],
  ["tui.editor.cursorWordRight", move(findWordRight)],
  ["tui.editor.cursorLineStart", move(findLineStart)],
  ["tui.editor.cursorLineEnd", move((document) => findLineEnd(document))],
];

export function findCommand(data: string): Command | undefined {
  const keybindings = getKeybindings();
  const command = commands.find(([id]) => keybindings.matches(data, id))?.[1];
  if (command) return command;
  if (matchesKey(data, "shift+backspace")) return deleteLeft;
  return matchesKey(data, "shift+delete") ? deleteRight : undefined;
}

const control = /[\x00-\x1f\x7f-\x9f]/;

/** The text that a key types; undefined for other keys. */
export const getTypedText = (data: string): string | undefined =>
  decodePrintableKey(data) ?? (data === "" || control.test(data) ? undefined : data);
