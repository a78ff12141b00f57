import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { firstCheckMs, watchFiles } from "./watch-files.ts";

test("at most 1,000 paths are watched, and the first that is not is named", () => {
  const root = mkdtempSync(join(tmpdir(), "tau-watch-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const directories = Array.from({ length: 1_010 }, (_unused, index) => join(root, String(index)));
  for (const directory of directories) mkdirSync(directory);
  const errors: string[] = [];
  const clock = createFakeClock();
  const watch = watchFiles(directories, { clock, onChange: () => {}, onError: (message) => errors.push(message) });
  onTestFinished(() => watch.close());
  // The directory above them is watched too.
  expect(errors).toEqual([expect.stringContaining(`${directories[999]} is not watched`)]);
});

test("what changed before the watchers were there is noticed by a check that comes once", async () => {
  const root = mkdtempSync(join(tmpdir(), "tau-watch-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const clock = createFakeClock();
  let calls = 0;
  const watch = watchFiles([join(root, "file")], { clock, onChange: () => calls++, onError: () => {} });
  onTestFinished(() => watch.close());
  await clock.advance(firstCheckMs - 1);
  expect(calls).toBe(0);
  await clock.advance(1);
  expect([calls, clock.waiting]).toEqual([1, 0]);
});
