import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { expect, onTestFinished, test } from "vitest";
import { keepAs, namingFile, readWhole, writeWhole } from "./durable-file.ts";

const withoutLinks: FileSystem = {
  ...nodeFileSystem,
  link: () => Promise.reject(Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM" })),
};

test.for([
  ["with hard links", nodeFileSystem],
  ["without hard links", withoutLinks],
] as const)("%s, a new file never replaces another, and a file is kept under a second name", async ([, fs]) => {
  const directory = await mkdtemp(join(tmpdir(), "tau-durable-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const path = join(directory, "a");
  const write = (text: string) => writeWhole(fs, { path, bytes: Buffer.from(text), ids: systemIds, replaces: false });
  await write("one");
  await expect(write("two")).rejects.toMatchObject({ code: "EEXIST" });
  expect(await readFile(path, "utf8")).toBe("one");
  await keepAs(fs, path, { path: join(directory, "b"), ids: systemIds });
  await expect(keepAs(fs, path, { path: join(directory, "b"), ids: systemIds })).rejects.toThrow("EEXIST");
  expect(await readFile(join(directory, "b"), "utf8")).toBe("one");
  expect((await readdir(directory)).toSorted()).toEqual(["a", "b"]);
});

test("an error of the system about writing is a failed write of the file; any other error stays as it is", async () => {
  const fail = (code: string) => () => Promise.reject(Object.assign(new Error(`${code}: it failed, write`), { code }));
  await expect(namingFile("/a/b.json", fail("ENOSPC"))).rejects.toMatchObject({
    code: "write_failed",
    message: "/a/b.json could not be written: the disk is full (ENOSPC). It was not changed.",
  });
  await expect(namingFile("/a/b.json", fail("EACCES"))).rejects.toThrow(
    "/a/b.json could not be written: writing is not",
  );
  await expect(namingFile("/a/b.json", fail("ECONNREFUSED"))).rejects.toThrow("ECONNREFUSED: it failed, write");
});

test("a pipe is refused at once: reading it would wait for a writer", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-durable-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const path = join(directory, "pipe");
  execFileSync("mkfifo", [path]);
  await expect(readWhole(nodeFileSystem, path)).rejects.toMatchObject({
    code: "EINVAL",
    message: `${path} is not a regular file.`,
  });
});
