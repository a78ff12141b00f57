import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SharedWatchers } from "./shared-watchers.ts";

function open() {
  const root = mkdtempSync(join(tmpdir(), "tau-shared-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const directory = join(root, "watched");
  mkdirSync(directory);
  const watchers = new SharedWatchers();
  const calls: string[] = [];
  const watch = (label: string, names?: string[]) => {
    const { dev, ino } = statSync(directory);
    const listener = { onChange: () => calls.push(label), onError: () => calls.push(`${label} failed`) };
    const stop = watchers.watch(directory, `${dev}:${ino}`, names && new Set(names), listener);
    onTestFinished(stop);
    return stop;
  };
  /** Returns who was told of a change of this entry, each once. */
  const change = async (name: string) => {
    calls.length = 0;
    writeFileSync(join(directory, name), "");
    await expect.poll(() => calls).toContain("all");
    return [...new Set(calls)].toSorted();
  };
  return { directory, watch, change, calls };
}

test("a change is reported to those who want it, and to nobody else", async () => {
  const { watch, change } = open();
  watch("all");
  watch("a", ["a"]);
  watch("a too", ["a", "b"]);
  expect(await change("c")).toEqual(["all"]);
  expect(await change("b")).toEqual(["a too", "all"]);
  expect(await change("a")).toEqual(["a", "a too", "all"]);
});

test("whoever has stopped is not told, and the others still are", async () => {
  const { watch, change } = open();
  const stopFirst = watch("first", ["a"]);
  const stopAll = watch("all");
  watch("second", ["a"]);
  stopFirst();
  expect(await change("a")).toEqual(["all", "second"]);
  stopAll();
  watch("all");
  expect(await change("a")).toEqual(["all", "second"]);
});

test("everybody is told when the directory itself goes away, and another one at its path is watched anew", async () => {
  const { directory, watch, change, calls } = open();
  watch("before", ["a"]);
  renameSync(directory, `${directory}-before`);
  await expect.poll(() => calls).toContain("before");
  mkdirSync(directory);
  watch("all");
  expect(await change("a")).toEqual(["all"]);
});
