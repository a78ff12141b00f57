/** A part of a page as blocks of Markdown: the page itself, or a cell of a table. */
import type { Range, Region } from "./choose-text.ts";

interface Inline {
  readonly open: string;
  readonly close: string;
  isWritten: boolean;
}

/** The prefixes of lines from before a container such as a list item, to be restored at its end. */
export interface SavedPrefix {
  readonly prefix: string;
  readonly first: string | undefined;
}

/** Containers deeper than this add nothing to their lines: the text of a page must not grow with its depth squared. */
const maxPrefix = 40;

const spaces = /[ \t\n\r\f\u00a0]+/g;
const space = /[ \t\n\r\f\u00a0]/;
/** Matches a text that `spaces` would change. */
const uneven = /[\t\n\r\f\u00a0]| {2}/;

interface Block {
  readonly text: string;
  /** Whether it follows the one before it without an empty line. */
  readonly isTight: boolean;
  /** How many characters of text it has. */
  readonly length: number;
}

export interface FrameContent {
  readonly blocks: readonly Block[];
  readonly regions: readonly Region[];
  readonly surroundings: readonly Range[];
  /** Whether it has a part that a cell of a table cannot have. */
  readonly hasStructure: boolean;
}

const none: readonly never[] = [];

export class Frame {
  hasStructure = false;
  #blocks: Block[] = [];
  #regions: Region[] | undefined;
  #surroundings: Range[] | undefined;
  #line = "";
  #needsSpace = false;
  #inlines: Inline[] = [];
  #prefix = "";
  /** The prefix of the next line, if it is another one, such as the mark of a list item. */
  #first: string | undefined;
  #nextIsTight = false;
  #length = 0;
  #code: { text: string; isBlock: boolean } | undefined;

  get blockCount(): number {
    return this.#blocks.length;
  }

  addRegion(region: Region): void {
    (this.#regions ??= []).push(region);
  }

  addSurrounding(range: Range): void {
    (this.#surroundings ??= []).push(range);
  }

  /** Ends the frame, and returns what it holds. It is empty afterwards, for another use. */
  take(): FrameContent {
    this.endBlock();
    const content = {
      blocks: this.#blocks,
      regions: this.#regions ?? none,
      surroundings: this.#surroundings ?? none,
      hasStructure: this.hasStructure,
    };
    this.#blocks = [];
    this.#regions = undefined;
    this.#surroundings = undefined;
    this.hasStructure = false;
    this.#inlines = [];
    this.#prefix = "";
    this.#first = undefined;
    return content;
  }

  get isInCode(): boolean {
    return this.#code !== undefined;
  }

  text(text: string): void {
    if (this.#code) {
      this.#code.text += text;
      return;
    }
    const single = uneven.test(text) ? text.replace(spaces, " ") : text;
    const { length } = single;
    if (single === " ") this.#needsSpace = true;
    if (single === " " || length === 0) return;
    const startsWithSpace = single.charCodeAt(0) === 32;
    const endsWithSpace = single.charCodeAt(length - 1) === 32;
    if (startsWithSpace) this.#needsSpace = true;
    this.raw(single.slice(startsWithSpace ? 1 : 0, endsWithSpace ? -1 : length));
    if (endsWithSpace) this.#needsSpace = true;
  }

  /** Writes Markdown into the current line. */
  raw(text: string): void {
    if (this.#needsSpace && this.#line !== "" && !this.#line.endsWith("\n")) this.#line += " ";
    this.#needsSpace = false;
    for (const inline of this.#inlines) {
      if (inline.isWritten) continue;
      inline.isWritten = true;
      this.#line += inline.open;
    }
    this.#line += text;
    this.#length += text.length;
  }

  lineBreak(): void {
    if (this.#code) this.#code.text += "\n";
    else if (this.#line !== "") {
      this.#line += "\n";
      this.#needsSpace = false;
    }
  }

  /** The marks are only written around text. */
  beginInline(open: string, close: string): Inline {
    const inline = { open, close, isWritten: false };
    this.#inlines.push(inline);
    return inline;
  }

  endInline(inline: Inline): void {
    const index = this.#inlines.lastIndexOf(inline);
    if (index === -1) return;
    if (inline.isWritten) this.#line += inline.close;
    this.#inlines.splice(index, 1);
  }

  beginCode(isBlock: boolean): void {
    if (isBlock) this.endBlock();
    this.#code ??= { text: "", isBlock };
  }

  /** Ends a line inside of a block of code, where an element does. */
  breakCode(): void {
    if (this.#code?.isBlock && this.#code.text !== "" && !this.#code.text.endsWith("\n")) this.#code.text += "\n";
  }

  endCode(language: string | undefined): void {
    const { text, isBlock } = this.#code ?? { text: "", isBlock: false };
    this.#code = undefined;
    if (!isBlock) {
      const line = (uneven.test(text) ? text.replace(spaces, " ") : text).trim();
      if (line === "") return;
      const fence = "`".repeat(countTicks(line) + 1);
      const gap = fence.length > 1 ? " " : "";
      if (space.test(text.charAt(0))) this.#needsSpace = true;
      this.raw(`${fence}${gap}${line}${gap}${fence}`);
      if (space.test(text.at(-1) ?? "")) this.#needsSpace = true;
      return;
    }
    const unix = text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
    const code = (space.test(unix.charAt(0)) ? unix.replace(/^(?:[ \t]*\n)+/, "") : unix).trimEnd();
    if (code === "") return;
    if (code.includes("\n")) this.hasStructure = true;
    const fence = "`".repeat(Math.max(3, countTicks(code) + 1));
    this.#length += code.length;
    this.#push(`${fence}${language ?? ""}\n${code}\n${fence}`);
  }

  /** Ends the current line as a block. */
  endBlock(): void {
    if (this.#code?.isBlock) return;
    if (this.#code) this.endCode(undefined);
    this.#needsSpace = false;
    if (this.#line === "") return;
    for (let index = this.#inlines.length - 1; index >= 0; index--) {
      const inline = this.#inlines[index]!;
      if (inline.isWritten) this.#line += inline.close;
      inline.isWritten = false;
    }
    const line = this.#line.trimEnd();
    this.#line = "";
    if (line !== "") this.#push(line);
  }

  /** Adds a finished block, such as a table. */
  addBlock(text: string, length: number): void {
    this.endBlock();
    this.#length += length;
    this.#push(text);
  }

  /** Adds the blocks of a part as they are. */
  addContent({ blocks, regions, surroundings }: FrameContent): void {
    this.endBlock();
    const offset = this.#blocks.length;
    for (const { text, isTight, length } of blocks) {
      this.#nextIsTight = isTight;
      this.#length = length;
      this.#push(text);
    }
    const move = <T extends Range>(range: T): T => ({
      ...range,
      start: range.start + offset,
      end: range.end + offset,
    });
    for (const region of regions) this.addRegion(move(region));
    for (const range of surroundings) this.addSurrounding(move(range));
  }

  beginContainer(marker: string, isTight: boolean): SavedPrefix {
    this.endBlock();
    const saved = { prefix: this.#prefix, first: this.#first };
    // The first block of an item is where the item is.
    this.#nextIsTight = isTight || (this.#first !== undefined && this.#nextIsTight);
    if (this.#prefix.length + marker.length > maxPrefix) return saved;
    this.#first = (this.#first ?? this.#prefix) + marker;
    this.#prefix += marker.startsWith(">") ? marker : " ".repeat(marker.length);
    return saved;
  }

  endContainer({ prefix, first }: SavedPrefix): void {
    this.endBlock();
    this.#prefix = prefix;
    // An item without text leaves no mark.
    if (this.#first !== undefined) this.#first = first;
  }

  /** Begins a heading; its text is one line. */
  beginHeading(level: number): SavedPrefix {
    this.endBlock();
    const saved = { prefix: this.#prefix, first: this.#first };
    this.#first = `${this.#first ?? this.#prefix}${"#".repeat(level)} `;
    return saved;
  }

  endHeading({ first }: SavedPrefix): void {
    this.#line = this.#line.replaceAll("\n", " ");
    this.endBlock();
    if (this.#first !== undefined) this.#first = first;
  }

  #push(text: string): void {
    const lines = this.#prefix === "" ? text : text.replaceAll("\n", `\n${this.#prefix}`);
    const first = this.#first ?? this.#prefix;
    this.#blocks.push({ text: first === "" ? lines : first + lines, isTight: this.#nextIsTight, length: this.#length });
    this.#first = undefined;
    this.#nextIsTight = false;
    this.#length = 0;
  }
}

/** The longest row of backticks in a text. */
function countTicks(text: string): number {
  if (!text.includes("`")) return 0;
  return Math.max(...(text.match(/`+/g) ?? []).slice(0, 10_000).map(({ length }) => length));
}

/** Joins blocks to a text. */
export function joinBlocks(blocks: readonly Block[]): string {
  let text = "";
  for (const { text: block, isTight } of blocks) {
    if (text !== "") text += isTight ? "\n" : "\n\n";
    text += block;
  }
  return text;
}
