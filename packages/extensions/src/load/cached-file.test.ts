import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readCachedFile, writeCachedFile } from "./cached-file.ts";

function createDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tau-cached-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

const content = Buffer.from("the content\nin two lines");
const isRoot = process.getuid?.() === 0;

async function write() {
  const directory = createDirectory();
  const file = { path: join(directory, "cache", "a"), key: "key of a" };
  await writeCachedFile(file, content);
  return { directory, file };
}

test("what was written is read, by its key only, and only its owner may look at it", async () => {
  const { file, directory } = await write();
  expect(readCachedFile(file)).toEqual(content);
  expect(readCachedFile({ ...file, key: "key of b" })).toBeUndefined();
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  expect(statSync(join(directory, "cache")).mode & 0o777).toBe(0o700);
});

const other = { path: "", key: "key of b" };

test.each<[string, (path: string) => void]>([
  ["is missing", (path) => rmSync(path)],
  ["is empty", (path) => writeFileSync(path, "")],
  ["is cut off", (path) => writeFileSync(path, readFileSync(path).subarray(0, -1))],
  ["is longer", (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from(" ")]))],
  ["has other content", (path) => writeFileSync(path, readFileSync(path, "utf8").replace("two", "ten"))],
  ["can be written by the group", (path) => chmodSync(path, 0o620)],
  ["can be written by everybody", (path) => chmodSync(path, 0o602)],
  ["is a directory", (path) => (rmSync(path), mkdirSync(path))],
  ["is a pipe that nobody writes to", (path) => (rmSync(path), execFileSync("mkfifo", [path]))],
  ["is a link to nothing", (path) => (rmSync(path), symlinkSync("nowhere", path))],
])("a file that %s is not believed, and can be written again", async (what, damage) => {
  const { file } = await write();
  damage(file.path);
  expect(readCachedFile(file)).toBeUndefined();
  await writeCachedFile(file, content);
  expect(readCachedFile(file)).toEqual(what === "is a directory" ? undefined : content);
});

test("the file of another key is not believed, whether it was moved, linked or copied there", async () => {
  const { file, directory } = await write();
  const path = join(directory, "cache", "b");
  for (const [index, move] of [linkSync, symlinkSync, renameSync].entries()) {
    move(file.path, `${path}${index}`);
    expect(readCachedFile({ ...other, path: `${path}${index}` })).toBeUndefined();
  }
});

test.runIf(isRoot)("the file of another user is not believed", async () => {
  const { file } = await write();
  chownSync(file.path, 12_345, 12_345);
  expect(readCachedFile(file)).toBeUndefined();
  chownSync(file.path, 0, 12_345);
  expect(readCachedFile(file)).toEqual(content);
});

test("processes that write at once leave one whole file, and no drafts", async () => {
  const { file, directory } = await write();
  const contents = Array.from({ length: 20 }, (_unused, index) => Buffer.alloc(100_000, index));
  const writing = contents.map((each) => writeCachedFile(file, each));
  let reads = 0;
  const watching = (async () => {
    while (reads < 20) {
      expect(readCachedFile(file)).toBeDefined();
      reads++;
      await new Promise(setImmediate);
    }
  })();
  await Promise.all([...writing, watching]);
  expect(contents).toContainEqual(readCachedFile(file));
  expect(readdirSync(join(directory, "cache"))).toEqual(["a"]);
});

test("a place that cannot be written to is no failure", async () => {
  const path = join(createDirectory(), "file");
  writeFileSync(path, "");
  const file = { path: join(path, "cache", "a"), key: "key" };
  await writeCachedFile(file, content);
  expect(readCachedFile(file)).toBeUndefined();
});
