/** Text of several lines with completion, prompt history and markers for large pastes. */
import type { Focusable } from "../component.ts";
import type { AutocompleteProvider } from "../completion/autocomplete.ts";
import {
  createDocument,
  findLeft,
  findLineEnd,
  findLineStart,
  getCursorLine,
  getText,
  insertText,
  isSame,
  moveTo,
  replaceRange,
  type TextDocument,
} from "../editing/document.ts";
import { findCol } from "../editing/layout.ts";
import { findText } from "../editing/movement.ts";
import { addPaste, expandMarkers } from "../editing/paste-markers.ts";
import { cleanPaste, normalizeText, PasteReader } from "../editing/pasted-text.ts";
import { PromptHistory } from "../editing/prompt-history.ts";
import { TextEditing } from "../editing/text-editing.ts";
import type { VimMode, VimResult } from "../editing/vim/vim.ts";
import { clampToLine } from "../editing/vim/text.ts";
import { toDocument, toVimText } from "../editing/vim/vim-document.ts";
import { VimKeys } from "../editing/vim/vim-keys.ts";
import { getKeybindings, type Keybinding } from "../keys/keybindings.ts";
import { matchesKey } from "../keys/match.ts";
import type { TuiMouseEvent, TuiMouseEventResult } from "../mouse.ts";
import type { TUI } from "../screen/tui.ts";
import { Completion } from "./editor-completion.ts";
import { findCommand, getTypedText } from "./editor-keys.ts";
import { drawBorder, drawFrame, type Frame, isSameFrame } from "./editor-frame.ts";
import type { EditorComponent } from "./editor-component.ts";
import { EditorView } from "./editor-view.ts";
import type { SelectListTheme } from "./select-list.ts";

export interface EditorTheme {
  borderColor: (str: string) => string;
  /** The theme of the suggestions. */
  selectList: SelectListTheme;
}

export interface EditorOptions {
  /** Blank columns on each side. Default 0. */
  paddingX?: number;
  /** How many suggestions are shown at once, from 3 to 20. Default 5. */
  autocompleteMaxVisible?: number;
}

const lineEdges: readonly Keybinding[] = [
  "tui.editor.cursorLineStart",
  "tui.editor.cursorLineEnd",
  "tui.editor.cursorRight",
];

/** They choose among the suggestions. */
const suggestionKeys: readonly Keybinding[] = [
  "tui.select.up",
  "tui.select.down",
  "tui.input.tab",
  "tui.select.confirm",
];

type Direction = "forward" | "backward";

/** Fewer on a small screen, where the cursor has to be visible too. */
const minVisibleRows = 5;
/** The lines around the text, and two below the editor for whoever uses it. */
const rowsAround = 4;
const visibleShare = 0.3;
/** A suggestion, and how many there are. */
const minListRows = 2;

export class Editor implements EditorComponent, Focusable {
  focused = false;
  borderColor: (str: string) => string;
  /** Gets the text without blanks around it, with pasted texts in the place of their markers. The editor is empty then. */
  onSubmit?: (text: string) => void;
  /** Gets the text with markers. */
  onChange?: (text: string) => void;
  /** Enter does nothing. */
  disableSubmit = false;
  protected readonly tui: TUI;
  readonly #editing = new TextEditing();
  readonly #history = new PromptHistory();
  readonly #view = new EditorView();
  readonly #pastes = new PasteReader();
  readonly #completion: Completion;
  #paddingX = 0;
  #vim: VimKeys | undefined;
  /** The next character is where to move the cursor to. */
  #jump: Direction | undefined;
  #drawn: { frame: Frame; lines: string[] } | undefined;

  constructor(tui: TUI, theme: EditorTheme, options: EditorOptions = {}) {
    this.tui = tui;
    this.borderColor = theme.borderColor;
    this.#completion = new Completion(
      {
        getDocument: () => this.#editing.document,
        apply: (document) => this.#change(() => this.#editing.change(document)),
        requestRender: () => this.tui.requestRender(),
        // The text has one row at least, and the line above it may leave the screen.
        getMaxRows: () => Math.max(minListRows, this.tui.terminal.rows - rowsAround),
      },
      theme.selectList,
    );
    this.#paddingX = toPadding(options.paddingX ?? 0);
    if (options.autocompleteMaxVisible !== undefined) this.#completion.maxVisible = options.autocompleteMaxVisible;
  }

  getPaddingX(): number {
    return this.#paddingX;
  }

  setPaddingX(padding: number): void {
    if (toPadding(padding) === this.#paddingX) return;
    this.#paddingX = toPadding(padding);
    this.tui.requestRender();
  }

  /** The mode of the keys of vim; undefined without them. */
  get vimMode(): VimMode | undefined {
    return this.#vim?.mode;
  }

  /** Turns the keys of vim on, in insert mode, or off. */
  setVimKeys(isOn: boolean): void {
    if (isOn === (this.#vim !== undefined)) return;
    this.#vim = isOn ? new VimKeys() : undefined;
    this.tui.requestRender();
  }

  /** Whether the keys of vim use a key here, so that it is not one of the program. */
  takesKey(data: string): boolean {
    if (!this.#vim || this.#completion.isShown) return false;
    return this.#vim.takes(data, toVimText(this.#editing.document));
  }

  getAutocompleteMaxVisible(): number {
    return this.#completion.maxVisible;
  }

  setAutocompleteMaxVisible(maxVisible: number): void {
    this.#completion.maxVisible = maxVisible;
    this.tui.requestRender();
  }

  setAutocompleteProvider(provider: AutocompleteProvider): void {
    this.#completion.setProvider(provider);
  }

  isShowingAutocomplete(): boolean {
    return this.#completion.isShown;
  }

  /** Keeps a prompt, for example one that was sent, for the keys up and down. */
  addToHistory(text: string): void {
    this.#history.add(text);
  }

  /** With markers for large pastes. */
  getText(): string {
    return getText(this.#editing.document);
  }

  getExpandedText(): string {
    return expandMarkers(this.getText(), this.#editing.document.pastes);
  }

  getLines(): string[] {
    return [...this.#editing.document.lines];
  }

  getCursor(): { line: number; col: number } {
    return { ...this.#editing.document.cursor };
  }

  /** Can be undone. Pasted texts are forgotten. */
  setText(text: string): void {
    this.#completion.cancel();
    this.#change(() => {
      const normalized = normalizeText(text);
      if (normalized === this.getText()) this.#editing.set(createDocument(normalized));
      else this.#editing.change(createDocument(normalized));
    }, true);
  }

  insertTextAtCursor(text: string): void {
    if (text === "") return;
    this.#completion.cancel();
    this.#change(() => this.#editing.change(insertText(this.#editing.document, normalizeText(text))));
  }

  undo(): void {
    this.#change(() => this.#editing.undo());
    this.#completion.update();
  }

  redo(): void {
    this.#change(() => this.#editing.redo());
    this.#completion.update();
  }

  invalidate(): void {
    this.#drawn = undefined;
  }

  /** Everything that may change the text, but vertical moves and history, goes through here. */
  #change(act: () => void, isChange = false): boolean {
    const { lines, cursor } = this.#editing.document;
    act();
    const isChanged = lines !== this.#editing.document.lines;
    if (isChanged || !isSame(cursor, this.#editing.document.cursor)) this.#view.forgetColumn();
    if (isChanged || isChange) {
      this.#history.leave();
      this.onChange?.(this.getText());
    }
    return isChanged;
  }

  handleInput(data: string): void {
    for (const { kind, text } of this.#pastes.read(data)) {
      if (kind === "pasted") this.#paste(cleanPaste(text));
      else this.#handleKey(text);
    }
  }

  #paste(text: string): void {
    this.#jump = undefined;
    this.#completion.cancel();
    const { text: line, col } = getCursorLine(this.#editing.document);
    // A path that is dropped onto the terminal does not belong to the word before it.
    const isPath = /^[/~.]/.test(text) && /\w$/.test(line.slice(0, col));
    const added = addPaste(this.#editing.document.pastes, isPath ? ` ${text}` : text);
    const document = { ...this.#editing.document, pastes: added.pastes };
    this.#change(() => this.#editing.change(insertText(document, added.text)));
  }

  #handleKey(data: string): void {
    if (this.#handleJump(data) || this.#handleVim(data)) return;
    const keys = getKeybindings();
    const is = (id: Keybinding) => keys.matches(data, id);
    if (is("tui.input.copy")) return;
    if (this.#completion.isShown && this.#handleSuggestions(data, is)) return;
    if (is("tui.input.tab")) return this.#completion.ask();
    if (isNewLine(data, is)) return this.#insertNewLine();
    if (is("tui.input.submit")) return this.#handleSubmit();
    if (this.#handleVertical(is)) return;
    if (is("tui.editor.jumpForward")) this.#jump = "forward";
    else if (is("tui.editor.jumpBackward")) this.#jump = "backward";
    else this.#edit(data);
  }

  /** Whether the keys of vim have used the key. */
  #handleVim(data: string): boolean {
    const vim = this.#vim;
    if (!vim || (this.#completion.isShown && matchesKey(data, "escape"))) return false;
    const typed = getTypedText(data);
    const characters = typed === undefined ? [] : [...typed];
    if (characters.length < 2) return this.#pressVim(vim, data, typed);
    // Several keys that the terminal has sent at once. In insert mode they are a text.
    const isText = vim.mode === "insert";
    for (const character of characters) {
      const isUsed = this.#pressVim(vim, character, character);
      if (!isUsed && !isText) this.#edit(character);
    }
    return !isText;
  }

  #pressVim(vim: VimKeys, data: string, typed: string | undefined): boolean {
    const result = vim.press(data, typed, toVimText(this.#editing.document));
    if (result.isUsed) this.#applyVim(vim, result);
    return result.isUsed;
  }

  #applyVim(vim: VimKeys, { text, cursor, effect }: VimResult): void {
    if (effect === "undo" || effect === "redo") this[effect]();
    else if (effect === "older") this.#showOlder();
    else if (effect === "newer") this.#showNewer();
    else if (text !== undefined || cursor !== undefined) {
      const { document } = this.#editing;
      const next = toDocument(document, { text, cursor: cursor ?? toVimText(document).cursor });
      this.#change(() => (text === undefined ? this.#editing.set(next) : this.#editing.change(next)));
    }
    this.#completion.cancel();
    // What an undo brings back may have the cursor behind a line, and so may a marker of a paste that was put there.
    if (vim.mode !== "insert") {
      const restored = toVimText(this.#editing.document);
      const clamped = { text: undefined, cursor: clampToLine(restored, restored.cursor) };
      this.#change(() => this.#editing.set(toDocument(this.#editing.document, clamped)));
    }
    this.tui.requestRender();
  }

  #edit(data: string): void {
    const command = findCommand(data);
    const typed = command ? undefined : getTypedText(data);
    if (!command && typed === undefined) return;
    const keys = getKeybindings();
    const isUndo = keys.matches(data, "tui.editor.undo");
    // Going to the end of a line counts as a movement, also if the cursor is there already.
    if (lineEdges.some((id) => keys.matches(data, id))) this.#view.forgetColumn();
    const isChanged = this.#change(() => (command ? command(this.#editing) : this.#editing.type(typed as string)));
    if (isChanged && !isUndo) this.#completion.updateAfterEdit(typed);
    else this.#completion.update();
  }

  #handleJump(data: string): boolean {
    const direction = this.#jump;
    if (!direction) return false;
    this.#jump = undefined;
    const keys = getKeybindings();
    if (keys.matches(data, "tui.editor.jumpForward") || keys.matches(data, "tui.editor.jumpBackward")) return true;
    const typed = getTypedText(data);
    if (typed === undefined) return false;
    const { document } = this.#editing;
    this.#change(() => this.#editing.set(moveTo(document, findText(document, typed, direction))));
    return true;
  }

  #handleSuggestions(data: string, is: (id: Keybinding) => boolean): boolean {
    if (is("tui.select.cancel")) {
      this.#completion.cancel();
      return true;
    }
    if (!suggestionKeys.some(is)) return false;
    this.#completion.settle();
    if (!this.#completion.isShown) return false;
    if (is("tui.select.up") || is("tui.select.down")) this.#completion.handleInput(data);
    else if (is("tui.input.tab")) this.#completion.accept();
    else {
      const isSent = this.#completion.isForCommands;
      this.#completion.accept();
      return !isSent;
    }
    return true;
  }

  #insertNewLine(): void {
    this.#completion.cancel();
    this.#change(() => this.#editing.change(insertText(this.#editing.document, "\n")));
  }

  #handleSubmit(): void {
    if (this.disableSubmit) return;
    const { document } = this.#editing;
    const { text, col } = getCursorLine(document);
    if (text[col - 1] === "\\") {
      // For terminals that have no other key for a line break.
      this.#completion.cancel();
      this.#change(() => this.#editing.change(replaceRange(document, findLeft(document), document.cursor, "\n")));
      return;
    }
    this.#submit();
  }

  #submit(): void {
    this.#completion.cancel();
    const text = this.getExpandedText().trim();
    this.#view.scrollToTop();
    this.#change(() => this.#editing.reset(createDocument()), true);
    this.#vim?.reset();
    this.onSubmit?.(text);
  }

  #handleVertical(is: (id: Keybinding) => boolean): boolean {
    if (is("tui.editor.historyPrevious")) this.#showOlder();
    else if (is("tui.editor.historyNext")) this.#showNewer();
    else if (is("tui.editor.cursorUp")) this.#moveUp();
    else if (is("tui.editor.cursorDown")) this.#moveDown();
    else if (is("tui.editor.pageUp")) this.#moveRows(-this.#maxVisibleRows);
    else if (is("tui.editor.pageDown")) this.#moveRows(this.#maxVisibleRows);
    else return false;
    return true;
  }

  #moveUp(): void {
    const { document } = this.#editing;
    if (!this.#view.isOnFirstRow(document)) return this.#moveRows(-1);
    if (document.cursor.col === 0 || this.#history.isBrowsing) return this.#showOlder();
    this.#view.forgetColumn();
    this.#editing.set(moveTo(document, findLineStart(document)));
  }

  #moveDown(): void {
    const { document } = this.#editing;
    if (!this.#view.isOnLastRow(document)) return this.#moveRows(1);
    if (this.#history.isBrowsing) return this.#showNewer();
    this.#view.forgetColumn();
    this.#editing.set(moveTo(document, findLineEnd(document)));
  }

  #moveRows(count: number): void {
    this.#editing.set(this.#view.moveRows(this.#editing.document, count));
    this.#completion.update();
  }

  #showOlder(): void {
    const { document } = this.#editing;
    const isDraft = !this.#history.isBrowsing;
    const prompt = this.#history.older(document);
    if (prompt === undefined) return;
    this.#show(moveTo(createDocument(normalizeText(prompt)), { line: 0, col: 0 }), isDraft);
  }

  #showNewer(): void {
    const shown = this.#history.newer();
    if (shown !== undefined)
      this.#show(typeof shown === "string" ? createDocument(normalizeText(shown)) : shown, false);
  }

  /** The way through the history is one step of undo. */
  #show(document: TextDocument, isFirst: boolean): void {
    this.#completion.cancel();
    this.#view.forgetColumn();
    if (isFirst) this.#editing.change(document);
    else this.#editing.set(document);
    this.onChange?.(this.getText());
  }

  /** In full-screen mode: puts the cursor where the mouse clicks, or takes a suggestion. */
  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    const frame = this.#drawn?.frame;
    if (!frame) return undefined;
    const { layout, rows } = frame.visible;
    if (event.y > rows.length + 1) {
      const result = this.#completion.handleMouse({
        ...event,
        x: event.x - frame.paddingX,
        y: event.y - rows.length - 2,
      });
      return result && { ...result, focus: true };
    }
    if (event.type !== "click" || event.button !== "left") return undefined;
    const row = rows[event.y - 1];
    if (row) {
      const col = findCol(layout, row, Math.max(0, event.x - frame.paddingX));
      this.#change(() => this.#editing.set(moveTo(this.#editing.document, { line: row.line, col })));
      this.#completion.update();
    }
    return { handled: true, focus: true };
  }

  get #maxVisibleRows(): number {
    const { rows } = this.tui.terminal;
    return Math.max(1, Math.min(minVisibleRows, rows - rowsAround), Math.floor(rows * visibleShare));
  }

  /** The line above the text. `hiddenLineCount` rows are not shown above. */
  protected renderTopBorder(width: number, hiddenLineCount: number): string {
    return this.borderColor(drawBorder(width, "↑", hiddenLineCount));
  }

  protected renderBottomBorder(width: number, hiddenLineCount: number): string {
    return this.borderColor(drawBorder(width, "↓", hiddenLineCount));
  }

  render(width: number): string[] {
    const paddingX = Math.max(0, Math.min(this.#paddingX, Math.floor((width - 1) / 2)));
    const contentWidth = Math.max(1, width - 2 * paddingX);
    // Without padding, the cursor at the end of a row needs a column.
    this.#view.setWidth(Math.max(1, contentWidth - (paddingX === 0 ? 1 : 0)));
    const { document } = this.#editing;
    const visible = this.#view.getVisibleRows(document, this.#maxVisibleRows);
    const top = this.renderTopBorder(width, visible.hiddenAbove);
    const bottom = this.renderBottomBorder(width, visible.hiddenBelow);
    const list = this.#completion.render(contentWidth);
    const frame = { width, paddingX, document, visible, top, bottom, list, focused: this.focused };
    if (!this.#drawn || !isSameFrame(this.#drawn.frame, frame)) this.#drawn = { frame, lines: drawFrame(frame) };
    return this.#drawn.lines;
  }
}

const toPadding = (padding: number): number => (Number.isFinite(padding) ? Math.max(0, Math.floor(padding)) : 0);

/** Terminals differ in what they send for Shift and Enter. */
const isNewLine = (data: string, is: (id: Keybinding) => boolean): boolean =>
  is("tui.input.newLine") || matchesKey(data, "alt+enter") || data === "\x1b[13;2~";
