import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new directory that is gone after the test. */
export function scratch(): string {
  const path = newDirectory();
  // Registered with each test, since one process runs many files and evaluates this one once.
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Calls `work` with a new directory, outside of a test. */
export function inScratch<T>(work: (path: string) => T): T {
  const path = newDirectory();
  try {
    return work(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

const newDirectory = () => realpathSync(mkdtempSync(join(tmpdir(), "tau-tools-")));
