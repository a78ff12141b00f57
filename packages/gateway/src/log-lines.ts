/** The last lines of the gateway's log, for clients that look into a problem. */
const maxLines = 1_000;
const maxLineLength = 2_000;

export class LogLines {
  readonly #write: (line: string) => void;
  #lines: string[] = [];

  /** `write` keeps all lines. */
  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  add = (line: string): void => {
    this.#write(line);
    this.#lines.push(line.slice(0, maxLineLength));
    if (this.#lines.length > 2 * maxLines) this.#lines = this.#lines.slice(-maxLines);
  };

  tail(limit: number): string[] {
    return this.#lines.slice(-Math.min(limit, maxLines));
  }
}
