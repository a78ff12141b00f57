/**
 * Draws into the main screen of a terminal. What leaves the screen at its top belongs to the terminal: it is printed once
 * and never touched again, so that scrollback, selection and search of the terminal work, and so that a frame costs what is
 * visible, however long the document is.
 */
import type { Component } from "../component.ts";
import { Document, type OpenLine } from "./document.ts";
import { deleteImages } from "./kitty-images.ts";
import { findCursor, LineCache } from "./lines.ts";
import { createUnknownRows, nothingPainted, paint, type Painted } from "./paint.ts";
import { resizeRows, type Size } from "./resize.ts";

export interface DrawOptions {
  /** Puts something over the visible lines, such as overlays; gets and returns at most as many lines as the screen has rows. */
  decorate?: (lines: readonly string[], size: Size) => readonly string[];
  /** Whether no frame follows: lines that were held back because they might change are printed as they are. Default false. */
  isLast?: boolean;
}

const asTheyAre = (lines: readonly string[]) => lines;

/**
 * Erases the row of the cursor and all below it. Not from the first column on: if that is the first cell of the screen, tmux
 * moves the whole screen into its scrollback.
 */
const eraseBelow = "\r\x1b[K\x1b[C\x1b[J\r";

export class MainScreen {
  readonly #alwaysPulls: boolean;
  readonly #document = new Document();
  #painted: Painted = nothingPainted;
  /** What is in our rows, without decoration. */
  #shown: readonly OpenLine[] = [];
  #size: Size | undefined;
  readonly #lines = new LineCache();
  #isDrawnAnew = false;
  /** Whether all rows are drawn when there are fewer than before. */
  redrawsIfShorter = false;

  /** @param alwaysPulls See `Terminal.alwaysPullsRows`. */
  constructor(alwaysPulls = false) {
    this.#alwaysPulls = alwaysPulls;
  }

  /** The bytes of the next frame; empty if nothing changed. */
  draw(children: readonly Component[], size: Size, { decorate = asTheyAre, isLast = false }: DrawOptions = {}): string {
    const erased = this.#resize(size);
    const open = this.#document.render(children, { width: size.columns, height: size.rows, isLast });
    const shown = Math.min(open.length, size.rows);
    const hidden = open.length - shown;
    // Lines above the screen that are finished and not in the scrollback yet have to scroll through it.
    const passing = open.slice(0, hidden).filter(({ mustPrint }) => mustPrint);
    const visible = decorate(
      open.slice(hidden).map(({ text }) => text),
      size,
    );
    const texts = [...passing.map(({ text }) => text), ...visible];
    const lines = this.#lines.toLines(texts, size.columns, visible.length);
    const cursor = findCursor(lines);
    const before = this.#painted;
    const isShorter = this.redrawsIfShorter && lines.length < before.rows.length;
    const { rows } = before;
    // A line that is in the scrollback is shown again.
    const first = open[hidden];
    const isBack = first !== undefined && !first.mustPrint && !first.leaf.isEphemeral && first.leaf.saved > 0;
    this.#isDrawnAnew = isShorter || (isBack && rows.length > 0 && rows[0]?.text !== lines[0]?.text);
    const { bytes, after } = paint({
      before: isShorter ? { ...before, rows: createUnknownRows(size.columns, rows.length) } : before,
      lines,
      height: size.rows,
      cursor,
    });
    const scrolled = lines.length - after.rows.length;
    this.#document.addScrolledOut(passing.slice(0, scrolled), lines);
    this.#painted = after;
    this.#shown = open.slice(hidden);
    return (isShorter ? deleteImages(rows) : "") + erased + bytes;
  }

  /** Whether the last frame moved what is visible up, or drew every row. */
  get isDrawnAnew(): boolean {
    return this.#isDrawnAnew;
  }

  /** Moves to the line below the last one, for whatever is printed next. */
  leave(): string {
    const { rows, cursor } = this.#painted;
    if (rows.length === 0) return "";
    const down = rows.length - 1 - cursor.row;
    this.#painted = nothingPainted;
    this.#size = undefined;
    return `${down > 0 ? `\x1b[${down}B` : ""}\r\n`;
  }

  /** All that is known of the screen is forgotten: the next frame draws every row. */
  forget(): string {
    const { rows, cursor } = this.#painted;
    this.#painted = nothingPainted;
    return `${deleteImages(rows)}${cursor.row > 0 ? `\x1b[${cursor.row}A` : ""}${eraseBelow}`;
  }

  #resize(size: Size): string {
    const before = this.#size;
    this.#size = { columns: size.columns, rows: size.rows };
    if (!before || (before.columns === size.columns && before.rows === size.rows)) return "";
    const painted = this.#painted;
    const scrolledOut = this.#document.scrolledOutWidths;
    const { pushed, pulled, rowsAbove } = resizeRows({
      before,
      after: size,
      painted,
      scrolledOut,
      alwaysPulls: this.#alwaysPulls,
    });
    if (pulled > 0) this.#document.takeBack(pulled);
    this.#document.addScrolledOut(this.#shown.slice(0, pushed), painted.rows);
    this.#painted = nothingPainted;
    const images = deleteImages(painted.rows);
    if (rowsAbove === undefined) return `${images}\x1b[H${eraseBelow}`;
    return `${images}${rowsAbove > 0 ? `\x1b[${rowsAbove}A` : ""}${eraseBelow}`;
  }
}
