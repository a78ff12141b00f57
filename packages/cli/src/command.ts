import type { ExitCode } from "./exit-codes.ts";

/** Where a command reads and writes; tests pass their own. */
export interface Io {
  out: (text: string) => void;
  err: (text: string) => void;
  /** Whether `out` is a terminal that shows colours. */
  colour: boolean;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

/** A command, loaded only when it is used. */
export type Run = (args: readonly string[], io: Io) => Promise<ExitCode>;

/** One line of the command table. */
export interface Command {
  name: string;
  summary: string;
  load: () => Promise<Run>;
}
