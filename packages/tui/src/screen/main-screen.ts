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
import { countReflowed, resizeRows, type Size } from "./resize.ts";

interface DrawOptions {
  /** Puts something over the visible lines, such as overlays; gets and returns at most as many lines as the screen has rows. */
  decorate?: (lines: readonly string[], size: Size) => readonly string[];
  /** Whether no frame follows: lines that were held back because they might change are printed as they are. Default false. */
  isLast?: boolean;
}

/**
 * How late a terminal may report another width: tmux waits for up to 250 ms, and a busy machine for longer. What was printed in
 * this time may have been broken or overwritten.
 */
const lateMs = 1_000;

const moveBy = (rows: number, direction: "A" | "B"): string => (rows > 0 ? `\x1b[${rows}${direction}` : "");

/** Between what was drawn for another width, and what is drawn again. */
const drawRule = (columns: number): string => "─".repeat(Math.max(1, columns));

/** The effect of a resize on our rows. `erase` takes them away, so that they can be drawn again in their place. */
type ResizeOutcome =
  | { kind: "same" }
  | { kind: "height"; erase: string }
  /** `kept` are the rows that are on the screen now. */
  | { kind: "width"; erase: string; kept: readonly { width: number }[] }
  /** Rows of the conversation may be in the scrollback, on the screen, or in both. */
  | { kind: "unknown" };

interface SizeReports {
  readonly sizes: Size[];
  /** When the first came. */
  readonly atMs: number;
  /** Whether something may have been painted while the terminal had a size that was not reported. */
  areIncomplete: boolean;
}

const createReports = (atMs: number): SizeReports => ({ sizes: [], atMs, areIncomplete: false });

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
  /** The lines in our rows, without decoration. */
  #shown: readonly OpenLine[] = [];
  #size: Size | undefined;
  /** Whether our rows begin at the top of the screen and empty rows follow: terminals push ours out and keep those. */
  #isAtTop = false;
  /** The reports since the last frame. */
  #reports: SizeReports | undefined;
  #paintedAtMs = -Infinity;
  readonly #now: () => number;
  readonly #lines = new LineCache();
  #isDrawnAnew = false;
  /** Whether all rows are drawn when there are fewer than before. */
  redrawsIfShorter = false;

  /**
   * @param alwaysPulls See `Terminal.alwaysPullsRows`.
   * @param now Milliseconds, from any point on.
   */
  constructor(alwaysPulls = false, now: () => number = () => performance.now()) {
    this.#alwaysPulls = alwaysPulls;
    this.#now = now;
  }

  /** The terminal has another size, or had one. Returns whether its width is not known to be that of the last frame. */
  noteSize({ columns, rows }: Size): boolean {
    if (!this.#size) return false;
    this.#reports ??= createReports(this.#now());
    const { sizes, atMs } = this.#reports;
    const last = sizes.at(-1) ?? this.#size;
    if (columns !== last.columns || rows !== last.rows) sizes.push({ columns, rows });
    else if (this.#paintedAtMs > atMs - lateMs) this.#reports.areIncomplete = true;
    return this.#reports.areIncomplete || columns !== this.#size.columns;
  }

  /** The bytes of the next frame; empty if nothing changed. */
  draw(children: readonly Component[], size: Size, { decorate = asTheyAre, isLast = false }: DrawOptions = {}): string {
    const before = this.#painted;
    const outcome = this.#resize(size);
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
    const erased = this.#separate(outcome, { open: open.slice(hidden), before, size });
    const isShorter = this.redrawsIfShorter && lines.length < this.#painted.rows.length;
    const { rows } = this.#painted;
    const isBack = open[hidden]?.isSaved === true;
    this.#isDrawnAnew = isShorter || (isBack && rows.length > 0 && rows[0]?.text !== lines[0]?.text);
    const { bytes, after } = paint({
      before: isShorter ? { ...this.#painted, rows: createUnknownRows(size.columns, rows.length) } : this.#painted,
      lines,
      height: size.rows,
      cursor,
    });
    const scrolled = lines.length - after.rows.length;
    this.#document.addScrolledOut(passing.slice(0, scrolled), lines, this.#now());
    this.#painted = after;
    if (bytes !== "") this.#paintedAtMs = this.#now();
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

  /** Finds out what the terminal did to our rows. Nothing is painted after it, unless the size is the same. */
  #resize(size: Size): ResizeOutcome {
    const before = this.#size;
    const { sizes, atMs, areIncomplete } = this.#reports ?? createReports(this.#now());
    this.#size = { columns: size.columns, rows: size.rows };
    this.#reports = undefined;
    if (!before) return { kind: "same" };
    const changesWidth = areIncomplete || [...sizes, size].some(({ columns }) => columns !== before.columns);
    if (!changesWidth && before.rows === size.rows) return { kind: "same" };
    const painted = this.#painted;
    this.#painted = nothingPainted;
    const isAtTop = this.#isAtTop;
    this.#isAtTop = false;
    if (changesWidth) {
      const isLate = this.#document.takeBackSince(atMs - lateMs);
      if (areIncomplete || isLate || this.#isReflowed(painted, [before, ...sizes.slice(0, -1), size], isAtTop))
        return { kind: "unknown" };
    }
    const scrolledOut = this.#document.scrolledOutWidths;
    const { pushed, pulled, pulledRows, rowsAbove, isSplit } = resizeRows({
      before,
      after: size,
      painted,
      scrolledOut,
      alwaysPulls: this.#alwaysPulls,
    });
    const out = this.#shown.slice(0, pushed);
    // What is above a rule is not drawn again, so it stays when it comes back.
    const own = Math.min(pulled, this.#document.countBelowRule);
    // Lines that may still change, and lines that were there already, are drawn again.
    const isRepeated = isSplit || out.some(({ mustPrint, leaf }) => !mustPrint && !leaf.isEphemeral);
    if (isRepeated || (changesWidth && own < pulled)) return { kind: "unknown" };
    this.#isAtTop = rowsAbove === undefined || isAtTop;
    const ownRows = (own === 0 ? [] : scrolledOut.slice(-own)).map((width) => ({ width }));
    const others = pulledRows - countReflowed(ownRows, size.columns);
    if (own > 0) this.#document.takeBack(own);
    this.#document.addScrolledOut(out, painted.rows, this.#now());
    const up = rowsAbove === undefined ? `\x1b[H${moveBy(others, "B")}` : moveBy(rowsAbove, "A");
    const erase = `${deleteImages(painted.rows)}${up}${eraseBelow}`;
    if (!changesWidth) return { kind: "height", erase };
    return { kind: "width", erase, kept: [...ownRows, ...painted.rows.slice(pushed)] };
  }

  /**
   * Whether the terminal has broken or joined rows so that some of ours may have gone to the scrollback or come back from it.
   * How many depends on the terminal, and on what else is on its screen.
   */
  #isReflowed({ rows }: Painted, sizes: readonly Size[], isAtTop: boolean): boolean {
    const columns = Math.min(...sizes.map((size) => size.columns));
    const isBroken = (width: number) => width > columns;
    const breaks = rows.some(({ width }) => isBroken(width));
    // Several sizes at once may also have been taller and smaller in turn.
    const isFull = sizes.some((size) => rows.length >= size.rows);
    if (isFull) return sizes.length > 2 || breaks || this.#document.scrolledOutWidths.some(isBroken);
    return breaks && (isAtTop || sizes.some((size) => countReflowed(rows, size.columns) > size.rows));
  }

  /**
   * Returns what is written before the rows of the next frame. Where lines may be in the scrollback that are drawn again, a rule
   * separates the two, and nothing of the conversation is erased: nobody knows how much of it is nowhere else.
   */
  #separate(
    outcome: ResizeOutcome,
    { open, before, size }: { open: readonly OpenLine[]; before: Painted; size: Size },
  ): string {
    if (outcome.kind === "same") return "";
    const isRepeated = this.#document.isSplit || open.some(({ isSaved }) => isSaved);
    if (outcome.kind !== "unknown" && !(outcome.kind === "width" && isRepeated)) return outcome.erase;
    if (before.rows.length === 0) return eraseBelow;
    const first = this.#shown.findLastIndex(({ leaf }) => !leaf.isEphemeral) + 1;
    const above = countReflowed(before.rows.slice(first, before.cursor.row), size.columns);
    const rule = drawRule(size.columns);
    const below = before.rows.length - first;
    const kept = outcome.kind === "width" ? outcome.kept : before.rows;
    const rows = kept.slice(0, Math.max(0, kept.length - below));
    this.#document.addAboveRule([...rows, { width: size.columns }], this.#now());
    return `${deleteImages(before.rows)}${moveBy(above, "A")}${eraseBelow}${rule}\r\n`;
  }
}
