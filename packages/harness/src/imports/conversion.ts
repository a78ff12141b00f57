/** The result of converting a session of another program. */
import type { SessionEntry } from "../session/entry.ts";

/** The programs whose sessions can be imported. */
export const foreignTools = ["pi", "claude-code", "codex", "opencode", "omp"] as const;
export type ForeignTool = (typeof foreignTools)[number];

/** A session of another program, before it is read. */
export interface ForeignSession {
  tool: ForeignTool;
  /** The program's own id of it. */
  id: string;
  /** The file, or the directory or database that it is in. */
  path: string;
  /** Differs for each state of the session; what has not changed is not read again. */
  stamp: string;
  /** When it was last used there, in milliseconds since the epoch. */
  modified: number;
  bytes: number;
}

/** Describes a session as far as it was converted. */
export interface ConvertedInfo {
  /** Empty if it is not known. */
  cwd: string;
  /** When it began, in milliseconds since the epoch. */
  started: number | undefined;
  name?: string | undefined;
}

/** A part of a session that was not brought over, for people. */
export interface ConversionNote {
  /** How often it happened. */
  count: number;
  message: string;
}

/** Converts one session. Entries come in the order of the log, every parent before its children. */
export interface Conversion {
  /** The entries as they are found. At its end, `info` and `notes` are complete. Rejects if the source cannot be read. */
  entries: AsyncIterable<SessionEntry>;
  /** Complete enough for a header as soon as the first entry was given. */
  readonly info: ConvertedInfo;
  readonly notes: readonly ConversionNote[];
}

/** Counts what was left out. */
export class Notes {
  readonly #counts = new Map<string, number>();

  add(message: string, count = 1): void {
    if (count > 0) this.#counts.set(message, (this.#counts.get(message) ?? 0) + count);
  }

  list(): ConversionNote[] {
    return [...this.#counts].map(([message, count]) => ({ count, message }));
  }
}

export const noteTexts = {
  unreadable: "a line cannot be read, so it is left out",
  tooLong: "a line is longer than 32 MB, so it is left out",
  open: "the last line is incomplete: the program was ended while it wrote it",
  droppedResult: "a result has no call that it belongs to, so it is left out",
  subAgent: "a message of a sub-agent is left out: what it found is in the result of its call",
  unknown: "a line of an unknown kind is left out",
  document: "a document that was attached is left out: sessions here hold text and images",
  lostImage: "an image is left out: it is not in the session",
} as const;
