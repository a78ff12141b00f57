import type { KeyChain, OAuthProvider } from "@tau/config/auth";
import type { Readable } from "node:stream";

/** The streams and the environment of the program; tests pass their own. */
export interface Io {
  /**
   * On a terminal, control characters of texts are made visible, also for `err`. Escape sequences of ours have to be marked.
   * Bytes are written as they are: not for a terminal.
   */
  out: (content: string | Uint8Array) => void;
  /** Resolves when `out` and `err` can take more; undefined if they can now. Await it between large writes. */
  drained: () => Promise<void> | undefined;
  err: (content: string | Uint8Array) => void;
  /** From now on only `out` writes to standard output. What extensions write there goes to standard error. */
  claimOutput?: () => void;
  /** Standard input; undefined if it is known to be empty. Called only by code that reads it. */
  input: () => Readable | undefined;
  /** Which of the streams are terminals. */
  terminal: { input: boolean; out: boolean; err: boolean };
  /** The width of the terminal; undefined if unknown. */
  columns: number | undefined;
  /** Whether `out` shows colours. */
  colour: boolean;
  /** Aborted by Ctrl-C and by the signals that end a program; its reason is the signal's name. */
  signal: AbortSignal;
  /**
   * For a program that needs longer to end: each such signal calls the listener, and does nothing else. Returns how to
   * end that. Absent where there are no signals.
   */
  takeSignals?: (onSignal: () => void) => () => void;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Default: the providers that tau knows. No file and no variable can change them, because tokens are sent to them. */
  oauthProviders?: readonly OAuthProvider[];
  /** Default: that of the operating system. */
  keyChain?: KeyChain;
}

/** A row of the command table. */
export interface Command {
  name: string;
  summary: string;
  /** A line for each subcommand, or a single one. `commands/usage.ts` describes their grammar. */
  usage: readonly string[];
}
