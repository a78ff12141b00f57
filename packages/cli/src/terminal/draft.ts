/**
 * What is typed and not sent, kept in a file of this process: a program that is killed cannot save anything. The next
 * start in the same directory gets it.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";

export interface DraftFile {
  /** Keeps soon what `read` gives then; if it is empty, the file is removed. */
  keep(read: () => string): void;
  /** The same now. */
  flush(): void;
  /** What another process left here when it ended, oldest first; it is then ours. Undefined if there is nothing. */
  take(): string | undefined;
}

/** So that a program that is killed loses at most the last words, and typing does not write with each key. */
const delayMs = 250;

export interface DraftOptions {
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
  let pending: (() => string) | undefined;
  let isKept = false;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (pending === undefined) return;
    const text = pending();
    pending = undefined;
    if (text.trim() === "" && !isKept) return;
    const file = join(directory, `${getPrefix()}${pid}.txt`);
    try {
      if (text.trim() === "") return rmSync(file, { force: true });
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      isKept = true;
      renameSync(`${file}.new`, file);
    } catch (error) {
      onError(`What you type cannot be kept: ${getErrorMessage(error)}`);
    }
  };
  return {
    keep(read) {
      pending = read;
      timer ??= setTimeout(flush, delayMs);
      timer.unref();
    },
    flush,
    take() {
      const left = listLeft(directory, getPrefix, pid);
      const texts = left.map((path) => readFileSync(path, "utf8")).filter((text) => text.trim() !== "");
      if (texts.length > 0) {
        pending = () => texts.join("\n\n");
        // Ours first: whatever happens in between, it is in one of the files.
        flush();
      }
      for (const path of left) rmSync(path, { force: true });
      return texts.length === 0 ? undefined : texts.join("\n\n");
    },
  };
}

/** The files of processes that are gone. */
function listLeft(directory: string, getPrefix: () => string, pid: number): string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  const own = names.filter((name) => name.endsWith(".txt") && name.startsWith(getPrefix()));
  const paths = own.filter((name) => !isRunning(Number(name.slice(getPrefix().length, -4)), pid));
  return paths.map((name) => join(directory, name)).toSorted((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
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
