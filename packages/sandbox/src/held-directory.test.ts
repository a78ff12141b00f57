import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { inHeldDirectory } from "./held-directory.ts";

function createDirectories() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-held-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [inside, outside] = [join(root, "inside"), join(root, "outside")];
  for (const directory of [inside, outside]) mkdirSync(directory);
  return { inside, outside, moved: join(root, "moved") };
}

test("nothing is done through a directory that was replaced by a link", () => {
  const { inside, outside, moved } = createDirectories();
  renameSync(inside, moved);
  symlinkSync(outside, inside);
  expect(inHeldDirectory(join(inside, "file"), () => "done")).toBeUndefined();
});

test("a directory that is replaced meanwhile stays the one that was opened", () => {
  const { inside, outside, moved } = createDirectories();
  writeFileSync(join(outside, "file"), "of others");
  inHeldDirectory(join(inside, "file"), (held) => {
    renameSync(inside, moved);
    symlinkSync(outside, inside);
    writeFileSync(held, "ours");
  });
  expect(readFileSync(join(moved, "file"), "utf8")).toBe("ours");
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("of others");
});

test("a directory that is missing is no failure", () => {
  const { inside } = createDirectories();
  expect(inHeldDirectory(join(inside, "missing", "file"), () => "done")).toBeUndefined();
});
