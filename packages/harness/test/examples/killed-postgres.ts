/** A process of its own that writes to Postgres. Arguments: the server, and how long a lease is valid without a sign of life. */
import { Pool } from "pg";
import { PostgresStorage } from "../../../../examples/programs/postgres/postgres-storage.ts";
import { writeUntilKilled } from "./killed-writer.ts";

const [host = "", leaseMs] = process.argv.slice(2);
const pool = new Pool({ host, user: "tau", database: "postgres", max: 2 });
await writeUntilKilled(await PostgresStorage.open(pool, { leaseMs: Number(leaseMs) }));
