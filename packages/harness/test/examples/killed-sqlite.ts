/** A process of its own that writes to SQLite. Arguments: the database, and how long a lease is valid without a sign of life. */
import { SqliteStorage } from "../../../../examples/programs/sqlite/sqlite-storage.ts";
import { writeUntilKilled } from "./killed-writer.ts";

const [path = "", leaseMs] = process.argv.slice(2);
await writeUntilKilled(new SqliteStorage({ path, leaseMs: Number(leaseMs) }));
