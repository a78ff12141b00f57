/** Edits a line of text. Text that does not fit scrolls sideways. */
import { type Component, CURSOR_MARKER, type Focusable } from "../component.ts";
import { clustersFrom } from "../editing/clusters.ts";
import { getText, insertText, moveTo, type TextDocument } from "../editing/document.ts";
import { cleanPaste, normalizeText, PasteReader } from "../editing/pasted-text.ts";
import { TextEditing } from "../editing/text-editing.ts";
import { getKeybindings } from "../keys/keybindings.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import { visibleWidth } from "../text/cells.ts";
import { padToWidth } from "../text/pad.ts";
import { truncateToWidth } from "../text/truncate.ts";
import { findCommand, getTypedText } from "./editor-keys.ts";

export interface InputOptions {
  /** Before the text. Default `> `. */
  prompt?: string;
  /** Shown while there is no text. */
  placeholder?: string;
  placeholderStyle?: (text: string) => string;
}

export class Input implements Component, Focusable {
  focused = false;
  onSubmit?: (value: string) => void;
  onEscape?: () => void;
  readonly #editing = new TextEditing();
  readonly #pastes = new PasteReader();
  readonly #options: Required<InputOptions>;
  #drawn: { width: number; focused: boolean; document: TextDocument; startColumn: number; lines: string[] } | undefined;

  constructor(options: InputOptions = {}) {
    this.#options = { prompt: "> ", placeholder: "", placeholderStyle: (text) => text, ...options };
  }

  getValue(): string {
    return getText(this.#editing.document);
  }

  /** Line breaks are left out. The cursor stays where it is, if the text is long enough. Cannot be undone. */
  setValue(value: string): void {
    const document = { ...this.#editing.document, lines: [removeBreaks(value)] };
    this.#editing.reset(moveTo(document, document.cursor));
  }

  undo(): void {
    this.#editing.undo();
  }

  redo(): void {
    this.#editing.redo();
  }

  invalidate(): void {
    this.#drawn = undefined;
  }

  handleInput(data: string): void {
    for (const { kind, text } of this.#pastes.read(data)) {
      if (kind === "typed") this.#handleKey(text);
      else this.#editing.change(insertText(this.#editing.document, removeBreaks(cleanPaste(text))));
    }
  }

  #handleKey(data: string): void {
    const keys = getKeybindings();
    if (keys.matches(data, "tui.select.cancel")) return this.onEscape?.();
    if (keys.matches(data, "tui.input.submit") || data === "\n") return this.onSubmit?.(this.getValue());
    const command = findCommand(data);
    if (command) return command(this.#editing);
    const typed = getTypedText(data);
    if (typed !== undefined) this.#editing.type(typed);
  }

  /** In full-screen mode: puts the cursor where the mouse is pressed. */
  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type !== "press" || event.button !== "left") return undefined;
    const { prompt } = this.#options;
    const column = Math.max(0, event.x - visibleWidth(prompt)) + (this.#drawn?.startColumn ?? 0);
    const line = this.getValue();
    let end = 0;
    let col = line.length;
    for (const cluster of clustersFrom(line, 0)) {
      end += cluster.width;
      if (end <= column) continue;
      col = cluster.index;
      break;
    }
    this.#editing.set(moveTo(this.#editing.document, { line: 0, col }));
    return { handled: true, focus: true };
  }

  render(width: number): string[] {
    const { document } = this.#editing;
    const drawn = this.#drawn;
    if (drawn?.width === width && drawn.focused === this.focused && drawn.document === document) return drawn.lines;
    const { text, startColumn } = this.#draw(width);
    this.#drawn = { width, focused: this.focused, document, startColumn, lines: [text] };
    return this.#drawn.lines;
  }

  #draw(width: number): { text: string; startColumn: number } {
    const { prompt, placeholder } = this.#options;
    const available = width - visibleWidth(prompt);
    if (available <= 0) return { text: truncateToWidth(prompt, width, ""), startColumn: 0 };
    const value = this.getValue();
    if (value === "" && placeholder !== "") return { text: this.#drawPlaceholder(width, available), startColumn: 0 };
    const { text, startColumn } = drawLine(value, this.#editing.document.cursor.col, available, this.#marker);
    return { text: padToWidth(prompt + text, width), startColumn };
  }

  #drawPlaceholder(width: number, available: number): string {
    const { prompt, placeholder, placeholderStyle } = this.#options;
    const text = truncateToWidth(placeholder, available, "").replace(/\x1b\[0m$/, "");
    const [first] = clustersFrom(text, 0);
    const start = first?.text ?? " ";
    const rest = text.slice(start.length);
    const styledRest = rest === "" ? "" : placeholderStyle(rest);
    return padToWidth(`${prompt}${this.#marker}\x1b[7m${placeholderStyle(start)}\x1b[27m${styledRest}`, width);
  }

  get #marker(): string {
    return this.focused ? CURSOR_MARKER : "";
  }
}

const removeBreaks = (text: string): string => normalizeText(text).replaceAll("\n", "");

/** The part of the line around the cursor, which is in the middle unless the line begins or ends there. */
function drawLine(
  line: string,
  cursorCol: number,
  width: number,
  marker: string,
): { text: string; startColumn: number } {
  // What has no width would change the character before it.
  const clusters = [...clustersFrom(line, 0)].filter((cluster) => cluster.width > 0);
  const cursor = clusters.find((cluster) => cluster.index >= cursorCol);
  let total = 0;
  let cursorColumn = 0;
  for (const cluster of clusters) {
    if (cluster.index < cursorCol) cursorColumn += cluster.width;
    total += cluster.width;
  }
  const shown = cursor ? width : width - 1;
  const startColumn = total < width ? 0 : findStart(cursorColumn, total, shown);
  let text = "";
  let column = 0;
  let isDrawn = false;
  for (const cluster of clusters) {
    const start = column;
    column += cluster.width;
    const isCursor = cluster === cursor;
    if (start < startColumn || column > startColumn + (total < width ? width : shown)) continue;
    text += isCursor ? `${marker}\x1b[7m${cluster.text}\x1b[27m` : cluster.text;
    isDrawn ||= isCursor;
  }
  return { text: isDrawn ? text : `${text}${marker}\x1b[7m \x1b[27m`, startColumn };
}

function findStart(cursorColumn: number, total: number, shown: number): number {
  const half = Math.floor(shown / 2);
  if (cursorColumn < half) return 0;
  return cursorColumn > total - half ? Math.max(0, total - shown) : cursorColumn - half;
}
