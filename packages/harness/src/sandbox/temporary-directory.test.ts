import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTemporaryDirectory } from "./temporary-directory.ts";

test("a directory that somebody has removed is made again elsewhere, and removed at the end", async () => {
  const directory = createTemporaryDirectory();
  const first = directory.getPath();
  expect(directory.getPath()).toBe(first);
  rmSync(join(first, ".."), { recursive: true });
  const second = directory.getPath();
  expect(second).not.toBe(first);
  expect(existsSync(second)).toBe(true);
  await directory.remove();
  expect(existsSync(join(second, ".."))).toBe(false);
});

test("where nothing can be written, the failure says what to do", () => {
  const root = mkdtempSync(join(tmpdir(), "tau-none-"));
  rmSync(root, { recursive: true });
  vi.stubEnv("TMPDIR", root);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => createTemporaryDirectory()).toThrow(
    `nothing can be written to ${root}: there is no such directory (ENOENT). Set TMPDIR to another directory.`,
  );
});
