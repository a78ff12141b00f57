import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTemporaryDirectory, listParents, removeAbandonedDirectories } from "./temporary-directory.ts";

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

test("what killed sessions left is removed after three days, and looked for once an hour", async () => {
  const root = mkdtempSync(join(tmpdir(), "tau-parent-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const dayMs = 86_400_000;
  let nowMs = Date.now();
  const clock = { ...systemClock, now: () => nowMs };
  const make = (name: string, ageMs: number) => {
    mkdirSync(join(root, name, "tmp"), { recursive: true });
    utimesSync(join(root, name), new Date(nowMs - ageMs), new Date(nowMs - ageMs));
  };
  make("tau-sandbox-old", 4 * dayMs);
  make("tau-sandbox-new", 2 * dayMs);
  make("of-others", 4 * dayMs);
  await removeAbandonedDirectories(clock, [root]);
  expect(readdirSync(root)).toEqual(["of-others", "tau-sandbox-new"]);
  make("tau-sandbox-old", 4 * dayMs);
  await removeAbandonedDirectories(clock, [root]);
  expect(readdirSync(root)).toContain("tau-sandbox-old");
  nowMs += 3_600_000;
  await removeAbandonedDirectories(clock, [root]);
  expect(readdirSync(root)).toEqual(["of-others", "tau-sandbox-new"]);
});
