import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMemoryStorage, type LogKey } from "@tau/tools/storage";
import { describe, test } from "vitest";
import { createFileStorage, findSessionFile } from "../../src/session/file-storage.ts";
import { createCrashFileSystem } from "../../src/testing/crash-file-system.ts";
import { storageContract } from "../../src/testing/storage-contract.ts";
import { nodeFileSystem } from "@tau/tools/platform";
import { scratch } from "./kit.ts";

describe("a storage in memory", () => {
  const places = new Map<string, ReturnType<typeof createMemoryStorage>>();
  const open = async (place: string) => {
    const storage = places.get(place) ?? createMemoryStorage();
    places.set(place, storage);
    return storage;
  };
  for (const { name, run } of storageContract("memory", { open })) test(name, run);
});

describe("a storage in files", () => {
  let directory: string;
  const getDirectory = (place: string) => join(directory, place, "sessions");
  const open = async (place: string) =>
    createFileStorage({ directory: getDirectory(place), agentDir: join(directory, place, "agent") });
  /** No process has the pid 0. */
  async function abandon(place: string, key: LogKey) {
    const path = await findSessionFile(nodeFileSystem, getDirectory(place), key.slice("session/".length));
    const holder = JSON.parse(await readFile(`${path}.lock`, "utf8")) as object;
    await writeFile(`${path}.lock`, JSON.stringify({ ...holder, id: "lost", pid: 0 }));
  }
  for (const { name, run } of storageContract("files", { open, abandon })) {
    test(name, async () => {
      directory = scratch();
      await run();
    });
  }
});

// The crash file system must behave like a real one.
describe("a storage in the crash file system", () => {
  const fileSystem = createCrashFileSystem();
  const open = async (place: string) =>
    createFileStorage({ directory: `/${place}/sessions`, agentDir: `/${place}/agent`, fileSystem });
  for (const { name, run } of storageContract("crash file system", { open })) test(name, run);
});
