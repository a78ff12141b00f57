/** The last lines of the gateway's log, for clients that look into a problem. */
const maxLines = 1_000;
const maxLineLength = 2_000;

/** Writes a line about an account of a channel to the gateway's log. */
export type ChannelLog = (line: string, accountId: string) => void;

interface LogLine {
  readonly text: string;
  /** The account of a channel that it is about. */
  readonly accountId: string | undefined;
}

export class LogLines {
  readonly #write: (line: string) => void;
  #lines: LogLine[] = [];

  /** `write` keeps all lines. */
  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  add = (line: string, accountId?: string): void => {
    this.#write(line);
    this.#lines.push({ text: line.slice(0, maxLineLength), accountId });
    if (this.#lines.length > 2 * maxLines) this.#lines = this.#lines.slice(-maxLines);
  };

  /** `accountId`: only lines about that account of a channel. */
  tail(limit: number, accountId?: string): string[] {
    const kept = this.#lines.slice(-maxLines);
    const lines = accountId === undefined ? kept : kept.filter((line) => line.accountId === accountId);
    return lines.slice(-limit).map(({ text }) => text);
  }
}
