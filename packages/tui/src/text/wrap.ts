/** Breaks text into lines of a width, at blanks where there are any, and repeats styles and links on each line. */
import { type Cell, toCells, visibleWidth } from "./cells.ts";
import { getEscapeAt, splitEscapes } from "./escape.ts";
import { StyleTracker } from "./style.ts";

/** Line breaks, links and underlines: only these change a text that fits. */
const needsWork = /[\r\n]|\x1b(?:\]|\[(?:[\d:;]*;)?(?:4|21)[:;m])/;

/**
 * Lines of at most `width` columns, not padded. Blanks at the place of a break are dropped. A word that is wider than a
 * line is broken where it must be; between wide characters (Chinese, Japanese, Korean) a line may break anywhere. A
 * character that is wider than `width` itself gets a line of its own.
 */
export function wrapTextWithAnsi(text: string, width: number): string[] {
  if (!needsWork.test(text) && visibleWidth(text) <= width) return [text];
  const lines: string[] = [];
  const styles = new StyleTracker();
  for (const line of text.split(/\r\n|[\r\n]/)) wrapLine(line, Math.max(1, width), styles, lines);
  return lines;
}

function wrapLine(line: string, width: number, styles: StyleTracker, lines: string[]): void {
  if (visibleWidth(line) <= width) {
    const open = styles.open();
    if (line.includes("\x1b")) for (const escape of splitEscapes(line)) styles.add(escape);
    lines.push(open + line + styles.closeLine());
    return;
  }
  const writer = new LineWriter(width, styles, lines);
  for (const token of toTokens(line)) writer.add(token);
  writer.end();
}

/** A word, or the blanks between two words, with the escape sequences in it. */
interface Token {
  isBlank: boolean;
  width: number;
  /** Clusters, or words of ASCII. */
  cells: Cell[];
}

const part = /[ \t]+|[\x21-\x7e]+(?=[ \t\x1b]|$)|[^ \t\x1b]+|\x1b/y;
const ascii = /^[\x21-\x7e]+$/;

function toTokens(line: string): Token[] {
  const tokens: Token[] = [];
  // Escape sequences belong to what follows, so that a style is not opened at the end of a line.
  let escapes: Cell[] = [];
  const add = (cell: Cell, isBlank: boolean) => {
    const last = tokens.at(-1);
    if (!last || last.isBlank !== isBlank || (!isBlank && mayBreakBetween(last.cells, cell))) {
      tokens.push({ isBlank, width: cell.width, cells: [...escapes, cell] });
    } else {
      for (const escape of escapes) last.cells.push(escape);
      last.cells.push(cell);
      last.width += cell.width;
    }
    escapes = [];
  };
  for (let index = 0; index < line.length;) {
    const escape = getEscapeAt(line, index);
    part.lastIndex = index;
    const text = escape ?? (part.exec(line) as RegExpExecArray)[0];
    index += text.length;
    if (escape !== undefined) escapes.push({ text: escape, width: 0, isEscape: true });
    else if (ascii.test(text)) add({ text, width: text.length, isEscape: false }, false);
    else for (const cell of toCells(text)) add(cell, cell.text === " " || cell.text === "\t");
  }
  if (escapes.length > 0) tokens.push({ isBlank: false, width: 0, cells: escapes });
  return tokens;
}

/** Scripts that are written without blanks. */
export const wideText = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;
const closing = /^[\p{Pe}\p{Pf}、。，．！？：；…ー々〻]/u;
const opening = /^[\p{Ps}\p{Pi}]/u;

/** Punctuation that closes stays with the character before it, and what opens with the one after it. */
function mayBreakBetween(cells: readonly Cell[], next: Cell): boolean {
  const before = cells.findLast((cell) => !cell.isEscape)?.text ?? "";
  if (closing.test(next.text) || opening.test(before)) return false;
  return wideText.test(before) || wideText.test(next.text);
}

class LineWriter {
  readonly #width: number;
  readonly #styles: StyleTracker;
  readonly #lines: string[];
  #line: string;
  #column = 0;
  #isBroken = false;
  /** Blanks that are kept only if a word follows on the same line. */
  #blanks: Token | undefined;

  constructor(width: number, styles: StyleTracker, lines: string[]) {
    this.#width = width;
    this.#styles = styles;
    this.#lines = lines;
    this.#line = styles.open();
  }

  add(token: Token): void {
    const blanks = this.#blanks;
    if (token.isBlank) {
      this.#blanks = token;
      return;
    }
    this.#blanks = undefined;
    const before = blanks?.width ?? 0;
    if (blanks && token.cells.every(({ isEscape }) => isEscape)) {
      this.#blanks = { ...blanks, cells: [...blanks.cells, ...token.cells] };
    } else if (this.#column + before + token.width <= this.#width) {
      if (blanks) this.#write(blanks);
      this.#write(token);
    } else {
      if (this.#column > 0 || before >= this.#width) this.#breakLine(blanks);
      else if (blanks) this.#write(blanks);
      this.#write(token);
    }
  }

  end(): void {
    const blanks = this.#blanks;
    // A line that fits stays as it is.
    if (blanks && !this.#isBroken && this.#column + blanks.width <= this.#width) this.#write(blanks);
    else if (blanks) this.#addEscapes(blanks.cells);
    this.#lines.push(this.#line + this.#styles.closeLine());
  }

  #breakLine(blanks: Token | undefined): void {
    this.#isBroken = true;
    const cells = blanks?.cells ?? [];
    const firstBlank = cells.findIndex(({ isEscape }) => !isEscape);
    // A style that ends with the word does not continue in what fills the rest of its line.
    this.#addEscapes(cells.slice(0, Math.max(0, firstBlank)));
    this.#lines.push(this.#line + this.#styles.closeLine());
    for (const { text, isEscape } of cells.slice(firstBlank)) if (isEscape) this.#styles.add(text);
    this.#line = this.#styles.open();
    this.#column = 0;
  }

  #addEscapes(cells: readonly Cell[]): void {
    for (const { text, isEscape } of cells) {
      if (!isEscape) continue;
      this.#styles.add(text);
      this.#line += text;
    }
  }

  #write({ cells }: Token): void {
    for (const cell of cells) this.#writeCell(cell);
  }

  #writeCell({ text, width, isEscape }: Cell): void {
    if (isEscape) this.#styles.add(text);
    else if (this.#column + width > this.#width) {
      if (width > 1 && ascii.test(text)) return this.#writeLetters(text);
      if (this.#column > 0) this.#breakLine(undefined);
    }
    this.#line += text;
    this.#column += width;
  }

  /** Writes a word of ASCII that does not fit. */
  #writeLetters(word: string): void {
    for (const cell of toCells(word)) this.#writeCell(cell);
  }
}
