/** Clients of databases. */
import type { Effect, Programs } from "./program.ts";

const drops: Effect = { does: "medium recursive_delete", says: "$n deletes a database." };

export const databases: Programs = {
  "psql mysql mariadb sqlplus sqlcmd mongosh redis-cli": { rules: ["clientCode", "database"] },
  "mongo valkey-cli clickhouse-client cockroach cqlsh usql pgcli mycli": { rules: ["database"] },
  sqlite3: { rules: ["clientCode", "sqlite"] },
  duckdb: { rules: ["sqlite"] },
  "dropdb dropuser": { is: ["destroys"], ...drops },
  "pg_restore mongorestore": { is: ["destroys"], ...drops, arg: /^(?:-c|--clean|--drop)$/ },
  mysqladmin: {
    effects: [
      {
        does: "high credential_change",
        says: "$n $1 changes stored logins.",
        words: /^(password|flush-privileges)(?: |$)/,
        also: true,
      },
      { ...drops, words: /(?:^| )drop(?: |$)/ },
    ],
  },
};
