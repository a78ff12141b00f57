import { removeUnwanted } from "../text/plain.ts";

/** Writes the commands that every terminal with escape sequences understands in the same way. */
export abstract class EscapeCommands {
  abstract write(data: string): void;

  moveBy(lines: number): void {
    if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`);
  }

  hideCursor(): void {
    this.write("\x1b[?25l");
  }

  showCursor(): void {
    this.write("\x1b[?25h");
  }

  clearLine(): void {
    this.write("\x1b[K");
  }

  clearFromCursor(): void {
    this.write("\x1b[J");
  }

  clearScreen(): void {
    this.write("\x1b[2J\x1b[H");
  }

  /** Control characters are left out: they could end the title and continue as commands for the terminal. */
  setTitle(title: string): void {
    this.write(`\x1b]0;${removeUnwanted(title)}\x1b\\`);
  }
}
