/** Somewhere else to run commands, such as a terminal that an editor shows. Nothing contains the processes there. */
import type { ExitStatus } from "./spawn.ts";

interface TerminalRequest {
  /** The call that the command belongs to. */
  toolCallId: string;
  argv: readonly [string, ...string[]];
  cwd: string;
  /** The variables that the command gets. A terminal has an environment of its own; see `CommandTerminal`. */
  env: Readonly<Record<string, string>>;
  /** How much of the output is kept: its end. */
  maxBytes: number;
}

export interface TerminalCommand {
  /** Settles when the command has ended. Never rejects: where the terminal is gone, it has failed. */
  readonly exit: Promise<ExitStatus>;
  /** Reads the output so far. */
  readOutput(): Promise<{ text: string; isCut: boolean }>;
  /** Ends the command. */
  kill(): Promise<void>;
  /** Ends the command if it still runs, and gives the terminal back. Its output stays on the screen. */
  release(): Promise<void>;
}

export interface CommandTerminal {
  /**
   * Starts a command; undefined where it cannot, and then it is started like any other. Must set every variable of `env`, and empty
   * those of our own environment that `env` does not have: they may be secrets.
   */
  start(request: TerminalRequest): Promise<TerminalCommand | undefined>;
}
