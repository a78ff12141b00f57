/** Shows in the title of the terminal which session it has. */
import { basename } from "node:path";
import { type Terminal, toPlainLine } from "@tau/tui";

interface TerminalTitleOptions {
  terminal: Terminal;
  isOn: () => boolean;
}

export class TerminalTitle {
  readonly #options: TerminalTitleOptions;
  /** The title that was set last: an extension may have set another one since. */
  #shown: string | undefined;

  constructor(options: TerminalTitleOptions) {
    this.#options = options;
  }

  /** Before each frame. Without a directory nothing is known of the session yet. */
  update(name: string | undefined, cwd: string): void {
    const { terminal, isOn } = this.#options;
    if (cwd === "" || !isOn()) return;
    const title = formatTitle(name, cwd);
    if (title === this.#shown) return;
    this.#shown = title;
    terminal.setTitle(title);
  }
}

/** `τ - NAME - DIRECTORY`, or without a name `τ - DIRECTORY`. Pure. */
export const formatTitle = (name: string | undefined, cwd: string): string =>
  ["τ", ...(name === undefined ? [] : [toPlainLine(name)]), toPlainLine(basename(cwd) || cwd)].join(" - ");
