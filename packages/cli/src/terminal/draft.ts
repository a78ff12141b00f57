/**
 * Keeps what is typed and not sent in a file of this process: a program that is killed cannot save anything. The next
 * start in the same directory gets it.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";

interface DraftFile {
  /** Keeps soon what `read` gives then; if it is empty, the file is removed. */
  keep(read: () => string): void;
  /** Saves now. */
  flush(): void;
  /** Takes what another process left here when it ended, oldest first; it is then ours. Undefined if there is nothing. */
  take(): string | undefined;
}

/** So that a program that is killed loses at most the last words, and typing does not write with each key. */
const delayMs = 250;

interface DraftOptions {
  agentDir: string;
  cwd: string;
  /** Gets a sentence when the file cannot be written. */
  onError: (message: string) => void;
  /** Default: that of this process. */
  pid?: number;
}

export function createDraftFile({ agentDir, cwd, onError, pid = process.pid }: DraftOptions): DraftFile {
  const directory = join(agentDir, "drafts");
  // Asked for when there is a draft: most starts have none, and loading the hash takes them 3 ms.
  const getPrefix = () => `${createHash("sha256").update(cwd).digest("hex").slice(0, 16)}-`;
  const getFile = () => join(directory, `${getPrefix()}${pid}.txt`);
  let pending: (() => string) | undefined;
  let isKept = false;
  /** The problem that was reported last, until the file can be written again: it is tried at each pause in typing. */
  let problem: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Whether the text is in the file; if it is empty, whether there is no file. */
  const write = (text: string): boolean => {
    const isEmpty = text.trim() === "";
    if (isEmpty && !isKept) return true;
    const file = getFile();
    try {
      if (isEmpty) rmSync(file, { force: true });
      else {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        writeFileSync(`${file}.new`, text, { mode: 0o600 });
        isKept = true;
        renameSync(`${file}.new`, file);
      }
      problem = undefined;
      return true;
    } catch (error) {
      const message = `What you type cannot be kept: ${getErrorMessage(error)}`;
      if (message !== problem) onError(message);
      problem = message;
      return false;
    }
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const read = pending;
    pending = undefined;
    if (read) write(read());
  };
  return {
    keep(read) {
      pending = read;
      timer ??= setTimeout(flush, delayMs);
      timer.unref();
    },
    flush,
    take() {
      const left = readLeft(directory, getPrefix, pid, (error) =>
        onError(`What was typed before cannot be read: ${getErrorMessage(error)}`),
      );
      const texts = left.map(({ text }) => text).filter((text) => text.trim() !== "");
      const text = texts.join("\n\n");
      // Ours first: whatever happens in between, it is in one of the files.
      if (write(text)) for (const { path } of left) if (path !== getFile()) rmSync(path, { force: true });
      return text === "" ? undefined : text;
    },
  };
}

interface LeftDraft {
  path: string;
  text: string;
  mtimeMs: number;
}

/**
 * Reads the drafts that ended processes have left, oldest first. If a draft cannot be read, it is skipped and reported.
 */
function readLeft(
  directory: string,
  getPrefix: () => string,
  pid: number,
  onError: (error: unknown) => void,
): LeftDraft[] {
  /** Undefined for what is missing: another process that starts at the same time may have taken it. */
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") onError(error);
      return undefined;
    }
  };
  const names = attempt(() => readdirSync(directory)) ?? [];
  const own = names.filter((name) => name.endsWith(".txt") && name.startsWith(getPrefix()));
  const drafts = own
    .filter((name) => !isRunning(Number(name.slice(getPrefix().length, -4)), pid))
    .map((name) => join(directory, name))
    .map((path) => attempt(() => ({ path, text: readFileSync(path, "utf8"), mtimeMs: statSync(path).mtimeMs })));
  return drafts.filter((draft) => draft !== undefined).toSorted((a, b) => a.mtimeMs - b.mtimeMs);
}

/** A process of the same number as ours was another one. */
function isRunning(pid: number, own: number): boolean {
  if (pid === own) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
