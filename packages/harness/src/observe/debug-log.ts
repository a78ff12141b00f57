/**
 * The debug log: one JSON line for each event, beginning with the time. It never contains a secret, and never blocks its
 * callers.
 */
import type { Clock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { LogWriter } from "./log-writer.ts";
import { createRedactor, type Redactor } from "@tau/policy/internal";

export interface DebugLogOptions {
  path: string;
  /** Default: the real one. */
  fileSystem?: FileSystem;
  clock: Clock;
  /** The secrets of this process. It is called for each line; a value that it returned once stays secret. */
  secrets: () => Iterable<string>;
  /** A larger file is renamed to `path.1`, which replaces an earlier one. Default 10 MB. */
  maxBytes?: number;
}

export interface DebugLog {
  /**
   * Logs an event. `data` is copied at once and written later, in order. Never throws: a line that cannot be created, that
   * could contain a secret, or that does not fit into the buffer is dropped, and the number of dropped lines is logged.
   */
  log(event: string, data?: unknown): void;
  /** A value of fewer than 8 characters is ignored. */
  addSecret(value: string): void;
  /** Waits until everything is written, but at most 2 s. Never rejects. */
  flush(): Promise<void>;
  /** Like `flush`; later events are ignored. */
  close(): Promise<void>;
}

/** Longer lines are cut. */
const maxLineBytes = 16 * 1024;
/** Much more than fits into a line is not even copied. */
const limits = { depth: 12, values: 4_000, characters: 2 * maxLineBytes };
const maxEventLength = 200;
const maxWaitMs = 2_000;

export function createDebugLog(options: DebugLogOptions): DebugLog {
  const { path, clock, secrets, fileSystem = nodeFileSystem, maxBytes = 10_000_000 } = options;
  const known = createSecrets();
  const formatLine = (event: string, data: unknown) =>
    createLine({ time: new Date(clock.now()).toISOString(), event, data }, known.current());
  const writer = new LogWriter({
    path,
    fileSystem,
    maxBytes,
    formatDropped: (lines) => formatLine("dropped", { lines }),
  });
  let isClosed = false;
  const wait = async (work: Promise<void>) => void (await untilTimeout(work, maxWaitMs, clock));

  return {
    log(event, data) {
      if (isClosed) return;
      try {
        for (const secret of secrets()) known.add(secret);
        const line = formatLine(event, data);
        if (line === undefined) writer.drop();
        else writer.add(line);
      } catch (error) {
        // Without the secrets nothing can be written safely, not even the error.
        void error;
        writer.drop();
      }
    },
    addSecret: (value) => known.add(value),
    flush: () => wait(writer.settled()),
    close() {
      isClosed = true;
      return wait(writer.close());
    },
  };
}

/** Collects secrets, and creates a new redactor only if there is a new one. */
function createSecrets() {
  const values = new Set<string>();
  let redactor: Redactor | undefined;
  return {
    add(secret: string): void {
      if (values.has(secret)) return;
      values.add(secret);
      redactor = undefined;
    },
    current: (): Redactor => (redactor ??= createRedactor(values, limits)),
  };
}

interface Line {
  time: string;
  event: unknown;
  data: unknown;
}

/** Undefined if the line contains a secret all the same, for example split over two values. */
function createLine({ time, event, data }: Line, redactor: Redactor): string | undefined {
  const clean = { time, event: String(redactor.redact(event)).slice(0, maxEventLength), data: redactor.redact(data) };
  let line = JSON.stringify(clean);
  if (Buffer.byteLength(line) >= maxLineBytes) line = cutLine(clean, line);
  return redactor.hasSecret(line) ? undefined : `${line}\n`;
}

/** A JSON line with the beginning of `data` as a string. */
function cutLine({ time, event, data }: Line, line: string): string {
  const text = JSON.stringify(data);
  const head = { time, event, cut: Buffer.byteLength(line) };
  // A character may need six bytes, since the JSON in the string is escaped again.
  for (let maxLength = maxLineBytes; ; maxLength = Math.floor(maxLength / 2)) {
    const cut = JSON.stringify({ ...head, data: text.slice(0, maxLength) });
    if (Buffer.byteLength(cut) < maxLineBytes || maxLength === 0) return cut;
  }
}
