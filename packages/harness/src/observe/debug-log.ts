/**
 * What happens inside, for who looks for a mistake: one JSON line each, the time first. It never holds a secret, and
 * never holds up who writes to it.
 */
import type { Clock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { LogWriter } from "./log-writer.ts";
import { createRedactor, type Redactor } from "./redact.ts";

export interface DebugLogOptions {
  path: string;
  /** Default: the real one. */
  fileSystem?: FileSystem;
  clock: Clock;
  /** The secrets of this process, asked for with each line. One that was ever named stays secret. */
  secrets: () => Iterable<string>;
  /** From this size on the file becomes `path.1`, and what was there before is gone. Default 10 MB. */
  maxBytes?: number;
}

export interface DebugLog {
  /**
   * Notes that something happened. Takes what it needs of `data` at once and writes it later, in order. Never throws:
   * a line that cannot be made, that could hold a secret, or that a slow disk has no room for is dropped, and how many
   * were is noted.
   */
  log(event: string, data?: unknown): void;
  /** Shorter than 8 characters it is ignored. */
  addSecret(value: string): void;
  /** Waits until everything is written, or the disk has hung for 2 s. Never rejects. */
  flush(): Promise<void>;
  /** The same; what is logged later is ignored. */
  close(): Promise<void>;
}

/** Longer lines are cut. */
const maxLineBytes = 16 * 1024;
/** Lines that are cut anyway need not be made whole. */
const limits = { depth: 12, values: 4_000, characters: 2 * maxLineBytes };
const maxEventLength = 200;
const maxWaitMs = 2_000;

export function createDebugLog(options: DebugLogOptions): DebugLog {
  const { path, clock, secrets, fileSystem = nodeFileSystem, maxBytes = 10_000_000 } = options;
  const keeper = createKeeper();
  const formatLine = (event: string, data: unknown) =>
    makeLine({ time: new Date(clock.now()).toISOString(), event, data }, keeper.current());
  const writer = new LogWriter({
    path,
    fileSystem,
    maxBytes,
    droppedLine: (lines) => formatLine("dropped", { lines }),
  });
  let isClosed = false;
  const wait = async (work: Promise<void>) => void (await untilTimeout(work, maxWaitMs, clock));

  return {
    log(event, data) {
      if (isClosed) return;
      try {
        for (const secret of secrets()) keeper.add(secret);
        const line = formatLine(event, data);
        if (line === undefined) writer.drop();
        else writer.add(line);
      } catch (error) {
        // Without knowing the secrets nothing can be written, also not what has gone wrong.
        void error;
        writer.drop();
      }
    },
    addSecret: (value) => keeper.add(value),
    flush: () => wait(writer.settled()),
    close() {
      isClosed = true;
      return wait(writer.close());
    },
  };
}

/** Remembers secrets, and looks for their forms only when there is a new one. */
function createKeeper() {
  const known = new Set<string>();
  let redactor: Redactor | undefined;
  return {
    add(secret: string): void {
      if (known.has(secret)) return;
      known.add(secret);
      redactor = undefined;
    },
    current: (): Redactor => (redactor ??= createRedactor(known, limits)),
  };
}

interface Line {
  time: string;
  event: unknown;
  data: unknown;
}

/** Undefined when a secret would be read out of it, for example out of two values that stand beside each other. */
function makeLine({ time, event, data }: Line, redactor: Redactor): string | undefined {
  const clean = { time, event: String(redactor.redact(event)).slice(0, maxEventLength), data: redactor.redact(data) };
  let line = JSON.stringify(clean);
  if (Buffer.byteLength(line) >= maxLineBytes) line = cutLine(clean, line);
  return redactor.holdsSecret(line) ? undefined : `${line}\n`;
}

/** Still JSON: the beginning of what `data` would have been, as a text. */
function cutLine({ time, event, data }: Line, line: string): string {
  const text = JSON.stringify(data);
  const around = { time, event, cut: Buffer.byteLength(line) };
  // A character may take six bytes, since what is JSON already is escaped once more.
  for (let most = maxLineBytes; ; most = Math.floor(most / 2)) {
    const cut = JSON.stringify({ ...around, data: text.slice(0, most) });
    if (Buffer.byteLength(cut) < maxLineBytes || most === 0) return cut;
  }
}
