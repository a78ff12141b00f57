import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { expect, onTestFinished, test } from "vitest";
import { keepAs, writeWhole } from "./durable-file.ts";

const withoutLinks: FileSystem = {
  ...nodeFileSystem,
  link: () => Promise.reject(Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM" })),
};

test.for([
  ["with hard links", nodeFileSystem],
  ["without hard links", withoutLinks],
] as const)("%s, a new file never replaces another, and a file is kept under a second name", async ([, fs]) => {
  const directory = await mkdtemp(join(tmpdir(), "tau-durable-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
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
