/** Makes lines of components ready to be written. */
import { CURSOR_MARKER } from "../component.ts";
import { toCells } from "../text/cells.ts";
import { isLink, isStyle, splitEscapes } from "../text/escape.ts";
import { expandTabs } from "../text/pad.ts";
import { StyleTracker } from "../text/style.ts";

/** A line as it is written. */
export interface Line {
  /** Without blanks at its end that nobody sees; with all styles and links closed. */
  readonly text: string;
  /** In columns, without those blanks. */
  readonly width: number;
  /** The column of the cursor, if it is in this line. */
  readonly cursor: number | undefined;
}

const plain = /^[\x20-\x7e]*$/;
const image = /^\x1b(?:_G|\]1337;)/;
/** Before an image that begins in a row above. */
const cursorUp = /^\x1b\[\d{1,3}A$/;
/** Control characters; formatting characters that terminals measure differently; and controls of the text's direction. */
const unwanted = /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A line that is too wide is cut. Of escape sequences only styles, links and images are left. */
export function toLine(text: string, columns: number): Line {
  if (plain.test(text)) {
    const shown = (text.length > columns ? text.slice(0, columns) : text).trimEnd();
    return { text: shown, width: shown.length, cursor: undefined };
  }
  writer.begin(columns);
  for (const part of splitEscapes(text.includes("\t") ? expandTabs(text) : text)) if (part !== "") writer.add(part);
  return writer.end();
}

/** Styles are written where they change what is seen, and nowhere else. */
class LineWriter {
  readonly #wanted = new StyleTracker();
  readonly #written = new StyleTracker();
  #columns = 0;
  #text = "";
  #width = 0;
  /** Blanks without a visible style, which count only if something follows. */
  #blanks = 0;
  #cursor: number | undefined;
  /** The sequence that was before this part, if it moves the cursor up. */
  #up = "";

  begin(columns: number): void {
    this.#wanted.reset();
    this.#written.reset();
    this.#columns = columns;
    this.#text = "";
    this.#width = 0;
    this.#blanks = 0;
    this.#cursor = undefined;
    this.#up = "";
  }

  add(part: string): void {
    // Between two sequences.
    if (part === "") return;
    if (part.charCodeAt(0) !== 0x1b) this.#addText(plain.test(part) ? part : part.replaceAll(unwanted, ""));
    else if (isStyle(part) || isLink(part)) this.#wanted.add(part);
    else if (part === CURSOR_MARKER)
      this.#cursor = Math.min(this.#width + this.#blanks, Math.max(0, this.#columns - 1));
    else if (image.test(part)) this.#addImage(part);
    this.#up = cursorUp.test(part) ? part : "";
  }

  end(): Line {
    return { text: this.#text + this.#written.close(), width: this.#width, cursor: this.#cursor };
  }

  #addImage(sequence: string): void {
    this.#writeBlanks();
    this.#text += this.#up + sequence;
  }

  #addText(text: string): void {
    const { text: fitting, width } = this.#cut(text);
    if (this.#wanted.showsOnBlanks || this.#wanted.hasLink) return this.#write(fitting, width);
    const body = fitting.trimEnd();
    const blanks = fitting.length - body.length;
    if (body !== "") this.#write(body, width - blanks);
    this.#blanks += blanks;
  }

  #write(text: string, width: number): void {
    if (text === "") return;
    this.#writeBlanks();
    this.#text += this.#wanted.transitionFrom(this.#written) + text;
    this.#width += width;
  }

  #writeBlanks(): void {
    if (this.#blanks === 0) return;
    this.#text += this.#written.hideOnBlanks() + " ".repeat(this.#blanks);
    this.#width += this.#blanks;
    this.#blanks = 0;
  }

  #cut(text: string): { text: string; width: number } {
    const room = this.#columns - this.#width - this.#blanks;
    if (plain.test(text))
      return text.length <= room
        ? { text, width: text.length }
        : { text: text.slice(0, Math.max(0, room)), width: Math.max(0, room) };
    let result = "";
    let width = 0;
    for (const cell of toCells(text)) {
      if (width + cell.width > room) break;
      result += cell.text;
      width += cell.width;
    }
    return { text: result, width };
  }
}

/** One for all lines: there are thousands, and each is written at once. */
const writer = new LineWriter();
