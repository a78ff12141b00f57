/**
 * Holds what a terminal shows, as text: the cursor, erasing, scrolling, the alternate screen, wide characters and wrapping. Colours, titles
 * and everything else that is no text are ignored.
 */
import { getCharacterWidth } from "./character-width.ts";
import { EscapeParser, type TerminalAction } from "./escape-parser.ts";
import { Grid } from "./grid.ts";

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

interface Cursor {
  row: number;
  /** Equal to the number of columns after the last one was written: the next character wraps. */
  column: number;
  isOrigin: boolean;
  charsets: [Charset, Charset];
  charset: 0 | 1;
}

type Charset = "ascii" | "lines";

/** The line-drawing characters of DEC, from 0x5f on. */
const lineCharacters = " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";
const tabWidth = 8;

const createCursor = (): Cursor => ({ row: 0, column: 0, isOrigin: false, charsets: ["ascii", "ascii"], charset: 0 });

export class Screen {
  /** Whether arrows are to be written in their other form. */
  usesApplicationKeys = false;
  readonly #parser = new EscapeParser();
  readonly #reply: (text: string) => void;
  #main: Grid;
  #alternate: Grid | undefined;
  #cursor = createCursor();
  /** The saved cursor of each screen. */
  #saved = { main: createCursor(), alternate: createCursor() };
  #top = 0;
  /** Excluded. */
  #bottom: number;
  #wraps = true;
  #inserts = false;
  #lastChar = "";

  /** `reply` gets what a terminal answers by itself: where its cursor is, and what it is. */
  constructor({ columns, rows }: TerminalSize, reply: (text: string) => void = () => undefined) {
    this.#main = new Grid(columns, rows);
    this.#bottom = rows;
    this.#reply = reply;
  }

  get size(): TerminalSize {
    return { columns: this.#grid.columns, rows: this.#grid.rows };
  }

  /** 0-based. */
  get cursor(): { readonly row: number; readonly column: number } {
    return { row: this.#cursor.row, column: Math.min(this.#cursor.column, this.#grid.columns - 1) };
  }

  push(bytes: Uint8Array): void {
    for (const action of this.#parser.push(bytes)) this.#apply(action);
  }

  /** The lines without blanks at their ends, and without empty lines at the end. */
  toText(): string {
    const lines = Array.from({ length: this.#grid.rows }, (_unused, row) => this.#grid.getText(row).trimEnd());
    return lines.join("\n").trimEnd();
  }

  /** The line of the cursor, up to the cursor: a prompt, if there is one. */
  getPrompt(): string {
    return this.#grid.getText(this.#cursor.row, this.#cursor.column);
  }

  resize({ columns, rows }: TerminalSize): void {
    const cursor = this.#cursor;
    const removed = this.#grid.resize(columns, rows, cursor.row);
    if (this.#alternate) this.#main.resize(columns, rows, this.#saved.main.row);
    cursor.row = Math.min(cursor.row - removed, rows - 1);
    cursor.column = Math.min(cursor.column, columns - 1);
    [this.#top, this.#bottom] = [0, rows];
  }

  get #grid(): Grid {
    return this.#alternate ?? this.#main;
  }

  #apply(action: TerminalAction): void {
    const isRepeat = action.kind === "csi" && action.final === "b" && action.mark === "";
    if (action.kind !== "text" && !isRepeat) this.#lastChar = "";
    switch (action.kind) {
      case "text":
        for (const char of action.text) this.#print(char);
        return;
      case "control":
        return this.#control(action.code);
      case "escape":
        return this.#escape(action.sequence);
      case "csi":
        return this.#csi(action.mark + action.final, action.parameters);
    }
  }

  #print(typed: string): void {
    const grid = this.#grid;
    const cursor = this.#cursor;
    const char = cursor.charsets[cursor.charset] === "lines" ? toLineCharacter(typed) : typed;
    const width = getCharacterWidth(char);
    if (width === 0) {
      if (cursor.column > 0) grid.combine(cursor.row, cursor.column - 1, char);
      return;
    }
    if (cursor.column + width > grid.columns) {
      if (this.#wraps) {
        cursor.column = 0;
        this.#lineFeed();
      } else if (width === 2) return;
      else cursor.column = grid.columns - width;
    }
    if (this.#inserts) grid.insertCells(cursor.row, cursor.column, width);
    grid.put(cursor.row, cursor.column, char, width);
    cursor.column += width;
    this.#lastChar = char;
  }

  #control(code: number): void {
    const cursor = this.#cursor;
    switch (code) {
      case 0x08:
        cursor.column = Math.max(0, Math.min(cursor.column, this.#grid.columns - 1) - 1);
        return;
      case 0x09:
        return this.#tab(1);
      case 0x0a:
      case 0x0b:
      case 0x0c:
      case 0x84:
        cursor.column = Math.min(cursor.column, this.#grid.columns - 1);
        return this.#lineFeed();
      case 0x0d:
        cursor.column = 0;
        return;
      case 0x0e:
        cursor.charset = 1;
        return;
      case 0x0f:
        cursor.charset = 0;
        return;
      case 0x85:
        cursor.column = 0;
        return this.#lineFeed();
      case 0x8d:
        return this.#reverseLineFeed();
    }
  }

  #escape(sequence: string): void {
    const cursor = this.#cursor;
    switch (sequence) {
      case "7":
        return this.#save();
      case "8":
        return this.#restore();
      case "D":
        return this.#control(0x84);
      case "E":
        return this.#control(0x85);
      case "M":
        return this.#reverseLineFeed();
      case "c":
        return this.#reset();
      case "(0":
      case "(B":
        cursor.charsets[0] = sequence === "(0" ? "lines" : "ascii";
        return;
      case ")0":
      case ")B":
        cursor.charsets[1] = sequence === ")0" ? "lines" : "ascii";
        return;
    }
  }

  #csi(name: string, parameters: readonly number[]): void {
    const [first = 0, second = 0] = parameters;
    const count = Math.max(1, first);
    const grid = this.#grid;
    const cursor = this.#cursor;
    const column = Math.min(cursor.column, grid.columns - 1);
    if ("X@PLM".includes(name)) cursor.column = column;
    switch (name) {
      case "A":
        return this.#moveBy(-count);
      case "B":
      case "e":
        return this.#moveBy(count);
      case "C":
      case "a":
        cursor.column = Math.min(column + count, grid.columns - 1);
        return;
      case "D":
        cursor.column = Math.max(0, column - count);
        return;
      case "E":
      case "F":
        this.#moveBy(name === "E" ? count : -count);
        cursor.column = 0;
        return;
      case "G":
      case "`":
        cursor.column = Math.min(count, grid.columns) - 1;
        return;
      case "H":
      case "f":
        return this.#moveTo(count - 1, Math.max(1, second) - 1);
      case "d":
        return this.#moveTo(count - 1, column);
      case "I":
        return this.#tab(count);
      case "Z":
        return this.#tab(-count);
      case "J":
      case "?J":
        return this.#eraseScreen(first, column);
      case "K":
      case "?K":
        return this.#eraseLine(first, column);
      case "X":
        grid.erase(cursor.row, column, Math.min(column + count, grid.columns));
        return;
      case "@":
        grid.insertCells(cursor.row, column, count);
        return;
      case "P":
        grid.deleteCells(cursor.row, column, count);
        return;
      case "L":
      case "M":
        if (cursor.row < this.#top || cursor.row >= this.#bottom) return;
        grid.scroll(cursor.row, this.#bottom, name === "M" ? count : -count);
        cursor.column = 0;
        return;
      case "S":
        return grid.scroll(this.#top, this.#bottom, count);
      case "T":
        // With more parameters it is about the mouse.
        if (parameters.length === 1) grid.scroll(this.#top, this.#bottom, -count);
        return;
      case "b":
        for (let left = Math.min(count, grid.columns * grid.rows); left > 0 && this.#lastChar !== ""; left--)
          this.#print(this.#lastChar);
        return;
      case "r":
        return this.#setRegion(count - 1, second === 0 ? grid.rows : second);
      case "s":
        return this.#save();
      case "u":
        return this.#restore();
      case "h":
      case "l":
        if (parameters.includes(4)) this.#inserts = name === "h";
        return;
      case "?h":
      case "?l":
        for (const mode of parameters) this.#setMode(mode, name === "?h");
        return;
      case "n":
        if (first === 5) this.#reply("\x1b[0n");
        if (first === 6) this.#reply(`\x1b[${cursor.row + 1};${column + 1}R`);
        return;
      case "c":
        if (first === 0) this.#reply("\x1b[?1;2c");
        return;
      case "!p":
        this.#inserts = false;
        this.#wraps = true;
        cursor.isOrigin = false;
        [this.#top, this.#bottom] = [0, grid.rows];
        return;
    }
  }

  #setMode(mode: number, isOn: boolean): void {
    switch (mode) {
      case 1:
        this.usesApplicationKeys = isOn;
        return;
      case 6:
        this.#cursor.isOrigin = isOn;
        return this.#moveTo(0, 0);
      case 7:
        this.#wraps = isOn;
        return;
      case 47:
      case 1047:
        return this.#switch(isOn);
      case 1048:
        return isOn ? this.#save() : this.#restore();
      case 1049:
        if (isOn) this.#save();
        this.#switch(isOn);
        if (!isOn) this.#restore();
        return;
    }
  }

  #switch(toAlternate: boolean): void {
    if (!toAlternate) this.#alternate = undefined;
    else if (!this.#alternate) this.#alternate = new Grid(this.#main.columns, this.#main.rows);
  }

  #lineFeed(): void {
    const { row } = this.#cursor;
    if (row === this.#bottom - 1) this.#grid.scroll(this.#top, this.#bottom, 1);
    else if (row < this.#grid.rows - 1) this.#cursor.row++;
  }

  #reverseLineFeed(): void {
    const { row } = this.#cursor;
    if (row === this.#top) this.#grid.scroll(this.#top, this.#bottom, -1);
    else if (row > 0) this.#cursor.row--;
  }

  /** Up or down, within the scrolling region if the cursor is in it. */
  #moveBy(count: number): void {
    const { row } = this.#cursor;
    const [first, last] = [row >= this.#top ? this.#top : 0, row < this.#bottom ? this.#bottom : this.#grid.rows];
    this.#cursor.row = Math.min(last - 1, Math.max(first, row + count));
    this.#cursor.column = Math.min(this.#cursor.column, this.#grid.columns - 1);
  }

  #moveTo(row: number, column: number): void {
    const { isOrigin } = this.#cursor;
    const last = (isOrigin ? this.#bottom : this.#grid.rows) - 1;
    this.#cursor.row = Math.min(last, row + (isOrigin ? this.#top : 0));
    this.#cursor.column = Math.min(column, this.#grid.columns - 1);
  }

  #tab(count: number): void {
    const last = this.#grid.columns - 1;
    const column = Math.min(this.#cursor.column, last);
    const stop = count > 0 ? Math.floor(column / tabWidth) + count : Math.ceil(column / tabWidth) + count;
    this.#cursor.column = Math.min(last, Math.max(0, stop * tabWidth));
  }

  #eraseScreen(how: number, column: number): void {
    const grid = this.#grid;
    const { row } = this.#cursor;
    if (how === 0) {
      grid.erase(row, column, grid.columns);
      grid.eraseRows(row + 1, grid.rows);
    } else if (how === 1) {
      grid.eraseRows(0, row);
      grid.erase(row, 0, column + 1);
    } else if (how === 2) grid.eraseRows(0, grid.rows);
  }

  #eraseLine(how: number, column: number): void {
    const grid = this.#grid;
    const [start, end] = [how === 0 ? column : 0, how === 1 ? column + 1 : grid.columns];
    if (how <= 2) grid.erase(this.#cursor.row, start, end);
  }

  #setRegion(top: number, bottom: number): void {
    const last = Math.min(bottom, this.#grid.rows);
    if (top >= last - 1) return;
    [this.#top, this.#bottom] = [top, last];
    this.#moveTo(0, 0);
  }

  #save(): void {
    this.#saved[this.#alternate ? "alternate" : "main"] = structuredClone(this.#cursor);
  }

  #restore(): void {
    this.#cursor = structuredClone(this.#saved[this.#alternate ? "alternate" : "main"]);
    this.#cursor.row = Math.min(this.#cursor.row, this.#grid.rows - 1);
    this.#cursor.column = Math.min(this.#cursor.column, this.#grid.columns - 1);
  }

  #reset(): void {
    const { columns, rows } = this.size;
    this.#main = new Grid(columns, rows);
    this.#alternate = undefined;
    this.#cursor = createCursor();
    this.#saved = { main: createCursor(), alternate: createCursor() };
    [this.#top, this.#bottom] = [0, rows];
    [this.#wraps, this.#inserts, this.usesApplicationKeys] = [true, false, false];
  }
}

function toLineCharacter(char: string): string {
  const code = char.charCodeAt(0);
  return code >= 0x5f && code <= 0x7e ? lineCharacters[code - 0x5f]! : char;
}
