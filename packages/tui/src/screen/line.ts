/** Makes lines of components ready to be written. */
import { CURSOR_MARKER } from "../component.ts";
import { isSimpleText, toCells } from "../text/cells.ts";
import { isLink, isStyle, splitEscapes } from "../text/escape.ts";
import { expandTabs } from "../text/pad.ts";
import { removeUnwanted } from "../text/plain.ts";
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

/** Kitty's commands end with `ESC \` only. Control characters could end them, and continue as other commands. */
const image = /^\x1b(?:_G[ -~]*\x1b\\|\]1337;File=[ -~]*(?:\x07|\x1b\\))$/;
/** Before an image that begins in a row above. */
const cursorUp = /^\x1b\[\d{1,3}A$/;

/** A line that is too wide is cut. Of escape sequences only styles, links and images are left. */
export function toLine(text: string, columns: number): Line {
  if (isSimpleText(text)) {
    const shown = (text.length > columns ? text.slice(0, columns) : text).trimEnd();
    return { text: shown, width: shown.length, cursor: undefined };
  }
  writer.begin(columns);
  for (const part of splitEscapes(text.includes("\t") ? expandTabs(text) : text)) writer.add(part);
  return writer.end();
}

/** Styles are written where they change what is seen, and nowhere else. */
class LineWriter {
  readonly #wanted = new StyleTracker();
  readonly #written = new StyleTracker();
  #columns = 0;
  #text = "";
  #width = 0;
  /** Blanks without a visible style, which are written only if something follows. */
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
    if (part.charCodeAt(0) !== 0x1b) {
      this.#addText(part);
      this.#up = "";
    } else this.#addEscape(part);
  }

  #addEscape(escape: string): void {
    if (isStyle(escape) || isLink(escape)) this.#wanted.add(escape);
    else if (escape === CURSOR_MARKER)
      this.#cursor = Math.min(this.#width + this.#blanks, Math.max(0, this.#columns - 1));
    else if (image.test(escape)) this.#addImage(escape);
    this.#up = escape.endsWith("A") && cursorUp.test(escape) ? escape : "";
  }

  end(): Line {
    return { text: this.#text + this.#written.close(), width: this.#width, cursor: this.#cursor };
  }

  #addImage(sequence: string): void {
    this.#writeBlanks();
    this.#text += this.#up + sequence;
  }

  #addText(part: string): void {
    const { text, width } = this.#fit(part);
    if (this.#wanted.showsOnBlanks || this.#wanted.hasLink) return this.#write(text, width);
    const body = text.trimEnd();
    const blanks = text.length - body.length;
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

  /** Cuts the text to the space that is left. */
  #fit(text: string): { text: string; width: number } {
    const room = this.#columns - this.#width - this.#blanks;
    if (!isSimpleText(text)) return cut(removeUnwanted(text), room);
    if (text.length <= room) return { text, width: text.length };
    return { text: text.slice(0, Math.max(0, room)), width: Math.max(0, room) };
  }
}

function cut(text: string, room: number): { text: string; width: number } {
  let result = "";
  let width = 0;
  for (const cell of toCells(text)) {
    if (width + cell.width > room) break;
    result += cell.text;
    width += cell.width;
  }
  return { text: result, width };
}

/** Shared by all lines: there are thousands, and each is written at once. */
const writer = new LineWriter();
