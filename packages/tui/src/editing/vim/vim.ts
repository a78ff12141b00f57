/** The keys of vim as a state machine: a key, a state and a text give the next state and the next text. Pure. */
import { type Find, findTarget, isFindKey } from "./motions.ts";
import { type Command, type Operator, parseCommand } from "./parse-command.ts";
import {
  clampToLine,
  getFirstNonBlank,
  getLineEnd,
  getLineNumber,
  getLineStart,
  getNext,
  getPrevious,
  getStartOfLine,
  type VimText,
  widen,
} from "./text.ts";
import { findObject, type Range } from "./text-objects.ts";

export type { VimText } from "./text.ts";
export type VimMode = "insert" | "normal" | "visual" | "visual line";

/** A text that was deleted or copied. */
interface Register {
  readonly text: string;
  readonly isLines: boolean;
}

/** A change, for `.`: its keys, and what was typed in insert mode after them. */
interface Change {
  readonly keys: readonly string[];
  readonly typed: string;
}

export interface VimState {
  readonly mode: VimMode;
  /** The keys of a command that is not complete. */
  readonly keys: readonly string[];
  /** Where the selection begins, in the visual modes. */
  readonly anchor: number;
  readonly register: Register;
  readonly find: Find | undefined;
  readonly lastChange: Change | undefined;
  /** The change that insert mode is part of. Undefined if it cannot be repeated. */
  readonly current: Change | undefined;
}

export const initialVimState: VimState = {
  mode: "insert",
  keys: [],
  anchor: 0,
  register: { text: "", isLines: false },
  find: undefined,
  lastChange: undefined,
  current: undefined,
};

/** Describes the effect of a key. Without `text` or `cursor` these stay as they are. */
export interface VimResult {
  readonly state: VimState;
  readonly text?: string;
  readonly cursor?: number;
  /** Done by whoever holds the text: it knows what came before. */
  readonly effect?: "undo" | "redo" | "older" | "newer";
  /** Whether the key was used. One that was not has its usual meaning. */
  readonly isUsed: boolean;
}

/** A text that repeats its input may become so long, whatever the count. */
const maxInserted = 10_000;

/** `key` is a character that was typed, or one of `escape`, `ctrl+r`, `backspace` and `other`. */
export function pressVimKey(state: VimState, document: VimText, key: string): VimResult {
  if (state.mode === "insert") return pressInInsert(state, document, key);
  if (key === "escape") return leave(state, document);
  if (key === "other") return { state: { ...state, keys: [] }, isUsed: false };
  const keys = [...state.keys, key === "backspace" ? "h" : key];
  const isVisual = state.mode !== "normal";
  const parsed = parseCommand(keys, isVisual);
  if (parsed.kind === "incomplete") return { state: { ...state, keys }, isUsed: true };
  const ready = { ...state, keys: [] };
  if (parsed.kind === "invalid") return { state: ready, isUsed: true };
  const result = isVisual
    ? runVisual(ready, document, parsed.command)
    : runNormal(ready, document, { command: parsed.command, keys });
  return settle(result, document);
}

/** Whether Escape has something to do here. */
export const usesEscape = ({ mode, keys }: VimState): boolean => mode !== "normal" || keys.length > 0;

function pressInInsert(state: VimState, document: VimText, key: string): VimResult {
  const { current } = state;
  const isTyped = [...key].length === 1;
  if (key === "escape") {
    const lastChange = current ?? state.lastChange;
    const cursor = getPrevious(document, document.cursor);
    return { state: { ...state, mode: "normal", keys: [], current: undefined, lastChange }, cursor, isUsed: true };
  }
  if (!current) return { state, isUsed: false };
  const typed = isTyped
    ? current.typed + key
    : key === "backspace" && current.typed !== ""
      ? [...current.typed].slice(0, -1).join("")
      : undefined;
  return { state: { ...state, current: typed === undefined ? undefined : { ...current, typed } }, isUsed: false };
}

/** Escape: drops the keys of a command, or ends a selection. */
function leave(state: VimState, document: VimText): VimResult {
  const cursor = clampToLine(document, document.cursor);
  return { state: { ...state, mode: "normal", keys: [] }, cursor, isUsed: usesEscape(state) };
}

/** Keeps the cursor on a character, unless text is inserted or selected. */
function settle(result: VimResult, before: VimText): VimResult {
  if (result.state.mode !== "normal" || result.effect) return result;
  // Atoms are only known for the text before; their ends are where a person put them.
  const document = result.text === undefined ? before : { ...before, text: result.text, atoms: [] };
  const cursor = clampToLine(document, Math.min(result.cursor ?? before.cursor, document.text.length));
  return { ...result, cursor };
}

const used = (state: VimState, change: Partial<VimResult> = {}): VimResult => ({ state, isUsed: true, ...change });

function runNormal(
  state: VimState,
  document: VimText,
  { command, keys }: { command: Command; keys: readonly string[] },
): VimResult {
  const result = run(state, document, command);
  const isChange = result.text !== undefined || result.state.mode === "insert";
  if (!isChange || (command.kind === "action" && command.key === ".")) return result;
  const change = { keys, typed: "" };
  const isOpen = result.state.mode === "insert";
  return { ...result, state: { ...result.state, ...(isOpen ? { current: change } : { lastChange: change }) } };
}

function run(state: VimState, document: VimText, command: Command): VimResult {
  const { cursor } = document;
  switch (command.kind) {
    case "motion":
      return move(state, document, command);
    case "operate": {
      const { operator, count } = command;
      const isWordChange =
        operator === "c" && /^w$/i.test(command.motion.key) && /\S/.test(document.text[cursor] ?? " ");
      // `cw` leaves the blanks after the word.
      const motion = isWordChange ? { key: command.motion.key === "w" ? "e" : "E" } : command.motion;
      const target = findTarget(document, motion, { count, find: state.find, isForOperator: true });
      const next = keepFind(state, command.motion);
      if (!target) return used(next);
      if (target.kind === "lines") return operateLines(next, document, { operator, from: cursor, to: target.offset });
      const [from, to] = [Math.min(cursor, target.offset), Math.max(cursor, target.offset)];
      return operate(next, document, { operator, from, to: target.kind === "inclusive" ? getNext(document, to) : to });
    }
    case "object": {
      const range = findObject(document, command.key, command.isAround);
      return range ? operate(state, document, { operator: command.operator!, ...range }) : used(state);
    }
    case "lines": {
      const to = getStartOfLine(document, getLineNumber(document, cursor) + command.count - 1);
      return operateLines(state, document, { operator: command.operator, from: cursor, to });
    }
    case "action":
      return act(state, document, command);
  }
}

const keepFind = (state: VimState, { key, character }: { key: string; character?: string }): VimState =>
  isFindKey(key) && character !== undefined ? { ...state, find: { key, character } } : state;

function move(state: VimState, document: VimText, { motion, count }: Command & { kind: "motion" }): VimResult {
  const target = findTarget(document, motion, { count, find: state.find, isForOperator: false });
  const next = keepFind(state, motion);
  if (target) return used(next, { cursor: target.offset });
  // Above the first line and below the last one are the other prompts.
  if (motion.key === "k" && state.mode === "normal") return used(next, { effect: "older" });
  if (motion.key === "j" && state.mode === "normal") return used(next, { effect: "newer" });
  return used(next);
}

function operate(
  state: VimState,
  document: VimText,
  { operator, ...range }: Range & { operator: Operator },
): VimResult {
  const { text } = document;
  const { from, to } = widen(document, range.from, range.to);
  const next = { ...state, mode: "normal" as const, register: { text: text.slice(from, to), isLines: false } };
  if (operator === "y") return used(next, { cursor: from });
  const mode = operator === "c" ? ("insert" as const) : next.mode;
  if (from === to && operator === "d") return used({ ...state, mode });
  return used({ ...next, mode }, { text: text.slice(0, from) + text.slice(to), cursor: from });
}

/** From the line of one offset to that of the other. */
function operateLines(
  state: VimState,
  document: VimText,
  { operator, ...ends }: Range & { operator: Operator },
): VimResult {
  const { text } = document;
  const from = getLineStart(document, Math.min(ends.from, ends.to));
  const to = getLineEnd(document, Math.max(ends.from, ends.to));
  const register = { text: text.slice(from, to), isLines: true };
  const next = { ...state, mode: "normal" as const, register };
  if (operator === "y") return used(next, { cursor: Math.min(document.cursor, ends.from, ends.to) });
  if (operator === "c")
    return used({ ...next, mode: "insert" }, { text: text.slice(0, from) + text.slice(to), cursor: from });
  // The last line goes with the line break before it.
  const [start, end] = to < text.length ? [from, to + 1] : [Math.max(0, from - 1), to];
  const rest = text.slice(0, start) + text.slice(end);
  const cursor = Math.min(from, getLineStart({ ...document, text: rest }, rest.length));
  return used(next, { text: rest, cursor: getFirstNonBlank({ ...document, text: rest }, cursor) });
}

function act(
  state: VimState,
  document: VimText,
  { key, count = 1, character }: Command & { kind: "action" },
): VimResult {
  const { cursor, text } = document;
  const [start, end] = [getLineStart(document, cursor), getLineEnd(document, cursor)];
  const insertAt = (offset: number): VimResult => used({ ...state, mode: "insert" }, { cursor: offset });
  const times = (step: typeof getNext) => {
    let offset = cursor;
    for (let done = 0; done < count; done++) {
      const next = step(document, offset);
      if (next === offset) break;
      offset = next;
    }
    return offset;
  };
  switch (key) {
    case "i":
      return insertAt(cursor);
    case "a":
      return insertAt(getNext(document, cursor));
    case "I":
      return insertAt(getFirstNonBlank(document, cursor));
    case "A":
      return insertAt(end);
    case "o":
      return { ...insertAt(end + 1), text: `${text.slice(0, end)}\n${text.slice(end)}` };
    case "O":
      return { ...insertAt(start), text: `${text.slice(0, start)}\n${text.slice(start)}` };
    case "x":
      return operate(state, document, { operator: "d", from: cursor, to: times(getNext) });
    case "s":
      return operate(state, document, { operator: "c", from: cursor, to: times(getNext) });
    case "X":
      return operate(state, document, { operator: "d", from: times(getPrevious), to: cursor });
    case "D":
      return operate(state, document, { operator: "d", from: cursor, to: end });
    case "C":
      return operate(state, document, { operator: "c", from: cursor, to: end });
    case "S":
    case "Y": {
      const to = getStartOfLine(document, getLineNumber(document, cursor) + count - 1);
      return operateLines(state, document, { operator: key === "S" ? "c" : "y", from: cursor, to });
    }
    case "r":
      return replaceCharacters(state, document, { to: times(getNext), count, character: character! });
    case "p":
    case "P":
      return put(state, document, { isBefore: key === "P", count });
    case "u":
      return used(state, { effect: "undo" });
    case "ctrl+r":
      return used(state, { effect: "redo" });
    case "v":
    case "V":
      return used({ ...state, mode: key === "v" ? "visual" : "visual line", anchor: cursor });
    case ".":
      return repeatChange(state, document);
    default:
      return used(state);
  }
}

/** Does nothing if the line has fewer characters. */
function replaceCharacters(
  state: VimState,
  document: VimText,
  { to, count, character }: { to: number; count: number; character: string },
): VimResult {
  const { text, cursor } = document;
  let replaced = 0;
  for (let offset = cursor; offset < to; offset = getNext(document, offset)) replaced++;
  if (replaced < count || [...character].length !== 1) return used(state);
  const inserted = character.repeat(count);
  return used(state, {
    text: text.slice(0, cursor) + inserted + text.slice(to),
    cursor: cursor + inserted.length - character.length,
  });
}

function put(state: VimState, document: VimText, { isBefore, count }: { isBefore: boolean; count: number }): VimResult {
  const { text, cursor } = document;
  const { register } = state;
  if (register.text === "" && !register.isLines) return used(state);
  const fitting = Math.max(1, Math.min(count, Math.floor(maxInserted / (register.text.length + 1))));
  if (!register.isLines) {
    const at = isBefore ? cursor : getNext(document, cursor);
    const inserted = register.text.repeat(fitting);
    const rest = text.slice(0, at) + inserted + text.slice(at);
    return used(state, {
      text: rest,
      cursor: getPrevious({ ...document, text: rest, atoms: [] }, at + inserted.length),
    });
  }
  const lines = Array.from({ length: fitting }, () => register.text).join("\n");
  const at = isBefore ? getLineStart(document, cursor) : getLineEnd(document, cursor);
  const rest = isBefore
    ? `${text.slice(0, at)}${lines}\n${text.slice(at)}`
    : `${text.slice(0, at)}\n${lines}${text.slice(at)}`;
  return used(state, { text: rest, cursor: getFirstNonBlank({ ...document, text: rest }, isBefore ? at : at + 1) });
}

/** The command again, what was typed after it, and Escape. */
function repeatChange(state: VimState, document: VimText): VimResult {
  const { lastChange } = state;
  const parsed = lastChange && parseCommand(lastChange.keys, false);
  if (!lastChange || parsed?.kind !== "command") return used(state);
  const { typed } = lastChange;
  const result = run(state, document, parsed.command);
  if (result.state.mode !== "insert") return result;
  const text = result.text ?? document.text;
  const cursor = result.cursor ?? document.cursor;
  const inserted = text.slice(0, cursor) + typed + text.slice(cursor);
  const end = getPrevious({ text: inserted, cursor, atoms: [] }, cursor + typed.length);
  return used({ ...result.state, mode: "normal", current: undefined, lastChange }, { text: inserted, cursor: end });
}

function runVisual(state: VimState, document: VimText, command: Command): VimResult {
  const { cursor } = document;
  const normal = { ...state, mode: "normal" as const };
  if (command.kind === "motion") {
    const result = move(state, document, command);
    return { ...result, cursor: clampToLine(document, result.cursor ?? cursor) };
  }
  if (command.kind === "object") {
    const range = findObject(document, command.key, command.isAround);
    if (!range || range.from === range.to) return used(state);
    return used({ ...state, mode: "visual", anchor: range.from }, { cursor: getPrevious(document, range.to) });
  }
  if (command.kind !== "action") return used(state);
  const { key } = command;
  const [first, last] = [Math.min(state.anchor, cursor), Math.max(state.anchor, cursor)];
  if (key === "v" || key === "V") {
    const mode = key === "v" ? ("visual" as const) : ("visual line" as const);
    return used(mode === state.mode ? normal : { ...state, mode });
  }
  if (key === "o") return used({ ...state, anchor: cursor }, { cursor: state.anchor });
  const operator = toOperator(key);
  const take = (by: Operator): VimResult =>
    state.mode === "visual line"
      ? operateLines(state, document, { operator: by, from: first, to: last })
      : operate(state, document, { operator: by, from: first, to: getNext(document, last) });
  if (operator) return take(operator);
  if (key !== "p" && key !== "P") return used(normal);
  return putOver(state, document, take("d"));
}

/** Puts the register in the place of what was selected, which is in the register afterwards. */
function putOver(state: VimState, document: VimText, deleted: VimResult): VimResult {
  const text = deleted.text ?? document.text;
  const rest = { ...document, text, cursor: Math.min(deleted.cursor ?? document.cursor, text.length), atoms: [] };
  const result = put({ ...deleted.state, register: state.register }, rest, { isBefore: true, count: 1 });
  return { ...result, text: result.text ?? text, state: { ...result.state, register: deleted.state.register } };
}

const toOperator = (key: string): Operator | undefined => {
  if (key === "d" || key === "x") return "d";
  return key === "c" || key === "s" ? "c" : key === "y" ? "y" : undefined;
};
