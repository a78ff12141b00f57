import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { watchFiles } from "./watch-files.ts";

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
