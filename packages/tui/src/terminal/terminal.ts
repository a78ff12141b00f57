/** The terminal as the renderer needs it. Any object with these members can be used. */
export interface Terminal {
  /**
   * From now on input comes one key or paste at a time, and `onResize` is called after each change of the size, also after one
   * that was undone before anybody could see it.
   */
  start(onInput: (data: string) => void, onResize: () => void): void;
  /** Leaves the terminal as it was before `start`. */
  stop(): void;
  /** Takes what is typed until nothing comes for `idleMs`, so that late releases of keys do not reach the shell. */
  drainInput(maxMs?: number, idleMs?: number): Promise<void>;
  write(data: string): void;
  readonly columns: number;
  readonly rows: number;
  /** Whether the terminal reports keys by the protocol of Kitty. */
  readonly kittyProtocolActive: boolean;
  /**
   * Whether a screen that becomes taller shows lines of its scrollback wherever the cursor is, as in tmux. Default: only if the
   * cursor is in the last row.
   */
  readonly alwaysPullsRows?: boolean;
  /** Down, or up if less than 0. */
  moveBy(lines: number): void;
  hideCursor(): void;
  showCursor(): void;
  clearLine(): void;
  clearFromCursor(): void;
  clearScreen(): void;
  setTitle(title: string): void;
  /** Shows in the task bar or the tab that something is in progress. */
  setProgress(active: boolean): void;
}
