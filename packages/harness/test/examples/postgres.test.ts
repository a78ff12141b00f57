/** The example of a storage in Postgres passes the contract of every storage. */
import { Pool } from "pg";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { LogKey } from "@tau/tools/storage";
import { PostgresStorage } from "../../../../examples/programs/postgres/postgres-storage.ts";
import { storageContract } from "../../src/testing/storage-contract.ts";
import { keepsAcknowledged } from "./killed.ts";
import { keepsLongResult } from "./long-result.ts";
import { missingPostgres, type PostgresServer, startPostgres } from "./postgres-server.ts";

const missing = missingPostgres();
if (missing !== undefined) console.warn(`Skipped: storage in Postgres. ${missing}.`);

describe.skipIf(missing !== undefined)("a storage in Postgres", () => {
  let server: PostgresServer;
  let control: Pool;
  let openPlace: string | undefined;
  let opened: { storage: PostgresStorage; pool: Pool }[] = [];

  const createPool = (max: number) => {
    const pool = new Pool({ host: server.host, user: server.user, database: server.database, max });
    // Idle connections are lost when the server stops.
    pool.on("error", () => undefined);
    return pool;
  };

  async function closeAll() {
    for (const { storage, pool } of opened) {
      storage.close();
      await pool.end();
    }
    opened = [];
  }

  /** Opens it with connections of its own, as another process would. A new place has no tables yet. */
  async function open(place: string): Promise<PostgresStorage> {
    if (place !== openPlace) {
      openPlace = place;
      await closeAll();
      await control.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    }
    const pool = createPool(2);
    const storage = await PostgresStorage.open(pool);
    opened.push({ storage, pool });
    return storage;
  }

  async function abandon(_place: string, key: LogKey) {
    await control.query("UPDATE tau_logs SET expires = to_timestamp(0) WHERE key = $1", [key]);
  }

  beforeAll(async () => {
    server = await startPostgres();
    control = createPool(1);
  });

  afterAll(async () => {
    await closeAll();
    await control?.end();
    await server?.close();
  });

  for (const { name, run } of storageContract("Postgres", { open, abandon })) test(name, run);

  test("the rest of a long result is read by another process", () => keepsLongResult(() => open("long-result")));

  test("no kill of a process that writes loses what was acknowledged", { timeout: 300_000 }, async () => {
    await open("killed");
    await keepsAcknowledged({ kind: "postgres", path: server.host, open: () => open("killed") });
  });
});
