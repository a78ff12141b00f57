import { join } from "node:path";
import { describe, test } from "vitest";
import { createFileStore } from "../../src/session/file-store.ts";
import { createMemoryStore, MemoryLog } from "../../src/session/memory-store.ts";
import { createCrashFileSystem } from "../../src/testing/crash-file-system.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { scratch } from "./kit.ts";

describe("a log in memory", () => {
  const logs = new Map<string, MemoryLog>();
  const create = (name: string) => {
    const log = logs.get(name) ?? new MemoryLog();
    logs.set(name, log);
    return createMemoryStore({ name, log });
  };
  for (const { name, run } of storeContract("memory", create)) test(name, run);
});

describe("a log in a file", () => {
  let directory: string;
  const create = (log: string) => createFileStore({ path: join(directory, "new", `${log}.jsonl`) });
  for (const { name, run } of storeContract("file", create)) {
    test(name, async () => {
      directory = scratch();
      await run();
    });
  }
});

// The crash file system must behave like a real one.
describe("a log in the crash file system", () => {
  const fileSystem = createCrashFileSystem();
  const create = (log: string) => createFileStore({ path: `/new/${log}.jsonl`, fileSystem });
  for (const { name, run } of storeContract("crash file system", create)) test(name, run);
});
