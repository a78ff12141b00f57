/** The example of a storage in SQLite passes the contract of every storage. */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import type { LogKey } from "@tau/tools/storage";
import type { SqliteStorage } from "../../../../examples/programs/sqlite/sqlite-storage.ts";
import { storageContract } from "../../src/testing/storage-contract.ts";
import { keepsAcknowledged } from "./killed.ts";
import { keepsLongResult } from "./long-result.ts";

function hasSqlite(): boolean {
  try {
    createRequire(import.meta.url)("node:sqlite");
    return true;
  } catch {
    // eslint-disable-next-line no-console
    console.warn(`Skipped: storage in SQLite. Node ${process.versions.node} has no node:sqlite; 22.5 or newer has it.`);
    return false;
  }
}

describe.skipIf(!hasSqlite())("a storage in SQLite", () => {
  const directory = mkdtempSync(join(tmpdir(), "tau-sqlite-"));
  const opened: SqliteStorage[] = [];
  const getPath = (place: string) => join(directory, `${place}.db`);

  /** Opens it with a connection of its own, as another process would. */
  async function open(place: string): Promise<SqliteStorage> {
    const example = await import("../../../../examples/programs/sqlite/sqlite-storage.ts");
    const storage = new example.SqliteStorage({ path: getPath(place) });
    opened.push(storage);
    return storage;
  }

  async function abandon(place: string, key: LogKey) {
    (await open(place)).all("UPDATE logs SET expiresMs = 1 WHERE key = ?", key);
  }

  afterAll(() => {
    for (const storage of opened) storage.close();
    rmSync(directory, { recursive: true, force: true });
  });

  for (const { name, run } of storageContract("SQLite", { open, abandon })) test(name, run);

  test("the rest of a long result is read by another process", () => keepsLongResult(() => open("long-result")));

  test("no kill of a process that writes loses what was acknowledged", { timeout: 300_000 }, () =>
    keepsAcknowledged({ kind: "sqlite", path: getPath("killed"), open: () => open("killed") }),
  );
});
