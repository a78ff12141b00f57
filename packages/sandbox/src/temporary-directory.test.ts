import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTemporaryDirectory, listParents } from "./temporary-directory.ts";

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

test("temporary files are on a disk where /tmp is in memory, unless a person chose another place", () => {
  const inMemory = (paths: string[]) => (path: string) => paths.includes(path);
  expect(listParents("/tmp", false, inMemory(["/tmp"]))).toEqual(["/var/tmp", "/tmp"]);
  expect(listParents("/tmp", false, inMemory([]))).toEqual(["/tmp"]);
  expect(listParents("/tmp", false, inMemory(["/tmp", "/var/tmp"]))).toEqual(["/tmp"]);
  expect(listParents("/mnt/fast", true, inMemory(["/mnt/fast"]))).toEqual(["/mnt/fast"]);
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
