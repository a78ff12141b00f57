/** Watches the memory of a search: ripgrep keeps a whole line in memory, however long it is. */
import { readFile } from "node:fs/promises";
import type { Clock } from "@tau/ai";
import { tolerate } from "../errors.ts";

/** How often it is checked. A fast disk reads a few hundred megabytes meanwhile. */
const intervalMs = 100;

interface MemoryWatch {
  pid: number | undefined;
  maxBytes: number;
  clock: Clock;
  onTooMuch: () => void;
}

/** Checks until it is cancelled, or has called `onTooMuch`. Does nothing where there is no /proc. */
export function watchMemory({ pid, maxBytes, clock, onTooMuch }: MemoryWatch): () => void {
  let isOver = pid === undefined;
  let cancelTimer = () => {};
  const check = async () => {
    // A check that fails, for example for lack of descriptors, is ignored: the next one comes soon.
    const bytes = await getOwnMemory(pid!).catch(() => 0);
    if (isOver || bytes === undefined) return;
    if (bytes > maxBytes) onTooMuch();
    else wait();
  };
  const wait = () => {
    cancelTimer = clock.setTimer(intervalMs, () => void check());
  };
  if (!isOver) wait();
  return () => {
    isOver = true;
    cancelTimer();
  };
}

/** Without memory that is shared with files, which the system can take back. Undefined for a process that has ended. */
async function getOwnMemory(pid: number): Promise<number | undefined> {
  const status = await tolerate(readFile(`/proc/${pid}/status`, "utf8"), "ENOENT", "ESRCH", "EACCES");
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(status ?? "") ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}
