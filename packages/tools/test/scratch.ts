import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new directory that is gone after the test. */
export function scratch(parent: string = tmpdir()): string {
  const path = newDirectory(parent);
  // Registered with each test, since one process runs many files and evaluates this one once.
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** In memory if possible, for tests that need no real disk. */
export const quickScratch = (): string => scratch(existsSync("/dev/shm") ? "/dev/shm" : tmpdir());

/** Calls `work` with a new directory, outside of a test. */
export function inScratch<T>(work: (path: string) => T): T {
  const path = newDirectory();
  try {
    return work(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

const newDirectory = (parent: string = tmpdir()) => realpathSync(mkdtempSync(join(parent, "tau-tools-")));
