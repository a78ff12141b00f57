import { readdirSync, readFileSync, rmSync, statSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { systemIds } from "@tau/ai";
import { Closers } from "@tau/ai/internal";
import { nodeFileSystem } from "@tau/tools/platform";
import { createFileStore, createMemoryStorage, getBlobDirectory } from "@tau/tools/storage";
import { withEveryFault } from "@tau/tools/testing";
import { expect, onTestFinished, test } from "vitest";
import { boundResult } from "../request/bound.ts";
import { createFileStorage } from "../session/file-storage.ts";
import { SessionManager } from "../session/session-manager.ts";
import { keepsLongResult } from "../../test/examples/long-result.ts";
import { openResults } from "./results.ts";

const whole = Array.from({ length: 100 }, (_unused, index) => `line ${index} 😀`).join("\n");

function createDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "tau-kept-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function open(sessionManager: Promise<SessionManager>) {
  const log = await sessionManager;
  const closers = new Closers();
  const close = async () => {
    await closers.close();
    await log.close();
  };
  onTestFinished(close);
  return { log, close, results: openResults({ sessionManager: log, ids: systemIds, tenant: undefined, closers }) };
}

test("of a session in a file, each result is a file beside it, which only its owner may read", async () => {
  const file = join(createDirectory(), "log.jsonl");
  const { results, log } = await open(SessionManager.createFile(file, { cwd: "/work" }));
  const path = await results.save(whole);
  expect(readFileSync(path, "utf8")).toBe(whole);
  expect(await results.save(Buffer.from([1, 2]), "png")).toMatch(/\.png$/);
  expect([dirname(path), statSync(path).mode & 0o777]).toEqual([getBlobDirectory(file), 0o600]);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(path))).toHaveLength(2);
  expect((await log.readBlob(path.slice(dirname(path).length + 1)))?.toString()).toBe(whole);
});

test("of a session in memory, they are temporary files, which go with it", async () => {
  const { results, close } = await open(SessionManager.inMemory("/work"));
  const path = await results.save(whole);
  expect(readFileSync(path, "utf8")).toBe(whole);
  await close();
  expect(() => statSync(path)).toThrow("ENOENT");
});

test("a result is whole if its path is returned, whatever call of the file system fails", async () => {
  await withEveryFault(nodeFileSystem, async (fileSystem) => {
    const path = join(createDirectory(), "log.jsonl");
    const store = createFileStore({ path, fileSystem });
    const save = async (text: string) => {
      await store.writeBlob("result-1.txt", Buffer.from(text));
      return join(getBlobDirectory(path), "result-1.txt");
    };
    const content = await boundResult({ content: [{ type: "text", text: whole }] }, { maxCharacters: 400, save });
    const said = JSON.stringify(content);
    const saved = / All of it is in (.+?)\]/.exec(said)?.[1];
    if (saved === undefined) expect(said).toMatch(/are lost/);
    else expect(readFileSync(saved, "utf8")).toBe(whole);
  });
});

test("the rest of a long result is read by another process: in memory that is shared", async () => {
  const storage = createMemoryStorage();
  await keepsLongResult(async () => storage);
});

test("a file that exists is not replaced by a result of the session, and one of nobody stays unknown", async () => {
  const storage = createMemoryStorage();
  const { results, log } = await open(SessionManager.create("/work", undefined, { storage }));
  const path = await results.save(whole);
  for (const each of [path, "/nowhere/result-unknown.txt"]) {
    const args = { path: each };
    await results.restore(args);
    expect(args).toEqual({ path: each });
  }
  const elsewhere = { path: `/nowhere/${path.split("/").at(-1)}` };
  rmSync(path);
  await results.restore(elsewhere);
  expect(readFileSync(elsewhere.path, "utf8")).toBe(whole);
  expect(elsewhere.path).toBe(path);
  expect(log.customStorage).toBe(storage);
});

test("a session in files keeps its results in place, also with a storage that was passed", async () => {
  const directory = createDirectory();
  const { results } = await open(
    SessionManager.create("/work", undefined, { storage: createFileStorage({ directory }) }),
  );
  expect(dirname(await results.save(whole)).startsWith(directory)).toBe(true);
});
