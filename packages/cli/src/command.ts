import type { OAuthProvider } from "@tau/harness/auth";
import type { Readable } from "node:stream";
import type { ExitCode } from "./exit-codes.ts";

/** Where the program reads and writes; tests pass their own. */
export interface Io {
  out: (text: string) => void;
  /** What whoever writes much waits for: undefined when there is room for more. */
  drained: () => Promise<void> | undefined;
  err: (text: string) => void;
  /** Standard input; undefined where it is known to hold nothing. Only who needs it touches it. */
  input: () => Readable | undefined;
  /** What is a terminal, and so a person. */
  terminal: { input: boolean; out: boolean; err: boolean };
  /** How wide the terminal is; undefined where nobody knows. */
  columns: number | undefined;
  /** Whether `out` shows colours. */
  colour: boolean;
  /** Aborted by Ctrl-C and by the signals that end a program; its reason is the signal's name. */
  signal: AbortSignal;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Whom one can log in to. Default: those that tau knows. No file and no variable says otherwise: tokens go there. */
  oauthProviders?: readonly OAuthProvider[];
}

/** A command, loaded only when it is used. */
export type Run = (args: readonly string[], io: Io) => Promise<ExitCode>;

/** One line of the command table. */
export interface Command {
  name: string;
  summary: string;
  /** What follows the name, one line a form, for `tau help NAME`. */
  usage: readonly string[];
}
