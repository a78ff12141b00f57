/**
 * A terminal in memory, to test what a person would see: the screen, the scrollback, the cursor, and what was written. It is
 * the emulator that editors embed, with grapheme clusters.
 */
import type { IBufferCell, IBufferLine, Terminal as Emulator } from "@xterm/headless";
import type { Terminal } from "../terminal/terminal.ts";
import { EscapeCommands } from "../terminal/escape-commands.ts";

export class VirtualTerminal extends EscapeCommands implements Terminal {
  readonly #emulator: Emulator;
  #onInput: ((data: string) => void) | undefined;
  #onResize: (() => void) | undefined;
  /** Everything that was written, in order. Empty it to look at what a change writes. */
  readonly writes: string[] = [];
  kittyProtocolActive = true;

  private constructor(emulator: Emulator) {
    super();
    this.#emulator = emulator;
  }

  static async create(columns = 80, rows = 24): Promise<VirtualTerminal> {
    // On Node 20 the addon reads its tables from a buffer that it takes for its own; see its issue about emoji widths.
    const { poolSize } = Buffer;
    Buffer.poolSize = 0;
    const [headless, graphemes] = await Promise.all([
      import("@xterm/headless"),
      import("@xterm/addon-unicode-graphemes"),
    ]);
    Buffer.poolSize = poolSize;
    const emulator = new headless.default.Terminal({
      cols: columns,
      rows,
      scrollback: 200_000,
      allowProposedApi: true,
    });
    emulator.loadAddon(new graphemes.default.UnicodeGraphemesAddon());
    return new VirtualTerminal(emulator);
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.#onInput = onInput;
    this.#onResize = onResize;
  }

  stop(): void {
    this.#onInput = undefined;
    this.#onResize = undefined;
  }

  async drainInput(): Promise<void> {}

  override write(data: string): void {
    this.writes.push(data);
    this.#emulator.write(data);
  }

  get columns(): number {
    return this.#emulator.cols;
  }

  get rows(): number {
    return this.#emulator.rows;
  }

  setProgress(active: boolean): void {
    this.write(active ? "\x1b]9;4;3\x07" : "\x1b]9;4;0;\x07");
  }

  /** Sends input as if it came from the keyboard: one key, or one paste. */
  sendInput(data: string): void {
    this.#onInput?.(data);
  }

  /** Resolves when the size has changed, after all that was written before is on the screen. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.flush();
    this.#emulator.resize(columns, rows);
    this.#onResize?.();
  }

  /** Resolves when everything that was written is on the screen. */
  async flush(): Promise<void> {
    await new Promise<void>((resolve) => this.#emulator.write("", resolve));
  }

  /** Returns the lines on the screen. */
  async getViewport(): Promise<string[]> {
    await this.flush();
    const { baseY } = this.#emulator.buffer.active;
    return this.#getLines(baseY, baseY + this.rows);
  }

  /** Returns the lines that have left the screen at its top. */
  async getScrollback(): Promise<string[]> {
    await this.flush();
    return this.#getLines(0, this.#emulator.buffer.active.baseY);
  }

  /** From 0, on the screen. */
  async getCursor(): Promise<{ x: number; y: number }> {
    await this.flush();
    const { cursorX, cursorY } = this.#emulator.buffer.active;
    return { x: cursorX, y: cursorY };
  }

  /** The cell at a place on the screen, with its colors, as of the last `flush`. */
  getCell(x: number, y: number): IBufferCell | undefined {
    const { baseY } = this.#emulator.buffer.active;
    return this.#emulator.buffer.active.getLine(baseY + y)?.getCell(x);
  }

  #getLines(from: number, to: number): string[] {
    const buffer = this.#emulator.buffer.active;
    return Array.from({ length: to - from }, (_unused, index) => getText(buffer.getLine(from + index), this.columns));
  }
}

/** Lines of the alternate screen keep what was in columns that a resize took away. */
function getText(line: IBufferLine | undefined, columns: number): string {
  const text = line?.translateToString(true, 0, columns) ?? "";
  return line && line.length > columns ? text.trimEnd() : text;
}
