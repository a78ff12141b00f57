/** The queries on a copy of a SQLite database, which run on a thread of their own. */

export interface DatabaseQuery {
  /** The copy, which is removed as soon as it is open: a killed process leaves nothing. */
  path: string;
  /** Undefined for a list of all tables. */
  table: string | undefined;
  /** The first row, counted from 1, and how many. */
  offset: number;
  maxRows: number;
}

export type DatabaseAnswer =
  | { kind: "tables"; tables: readonly DatabaseTable[]; others: readonly string[]; left: number }
  | { kind: "rows"; columns: readonly string[]; rows: readonly string[]; hasMore: boolean }
  /** There is no table of this name that can be read. */
  | { kind: "missing"; isView: boolean }
  | { kind: "failed"; message: string };

export interface DatabaseTable {
  name: string;
  columns: readonly string[];
  /** The first rows. */
  rows: readonly string[];
  /** Undefined where counting takes too long. */
  count: number | undefined;
  /** Undefined unless the table is damaged. */
  problem: string | undefined;
}

/**
 * Answers a query. Nothing that comes from the file is executed: only ordinary tables are read, by their stored columns and without
 * an index; views, virtual tables and calculated columns are named. This function is passed to a thread as text, so it must not use
 * anything from outside of it.
 */
export function runDatabaseQuery(load: (name: string) => unknown, query: DatabaseQuery): DatabaseAnswer {
  type Row = Record<string, unknown>;
  interface Statement {
    all(...values: unknown[]): Row[];
    iterate(...values: unknown[]): Iterable<Row>;
    setReadBigInts(enabled: boolean): void;
  }
  interface Database {
    exec(sql: string): void;
    prepare(sql: string): Statement;
    close(): void;
  }
  interface Sqlite {
    DatabaseSync: new (path: string, options: object) => Database;
  }
  const limits = {
    tables: 200,
    names: 2_000,
    columns: 100,
    counted: 1_000_000,
    countedInAll: 5_000_000,
    text: 200,
    line: 10_000,
  };
  /** A longer text is not loaded to show its beginning. */
  const maxLoadedBytes = 1_000_000;
  const firstRows = 3;

  const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const toLine = (text: string): string =>
    /^[^\p{C}|"]*$/u.test(text) && text.trim() === text ? text : JSON.stringify(text);
  const toMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

  const { DatabaseSync } = load("node:sqlite") as Sqlite;
  const { unlinkSync } = load("node:fs") as { unlinkSync(path: string): void };
  let database: Database | undefined;
  const prepare = (sql: string): Statement => {
    const statement = database!.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  };
  /** Stored columns only: the others are expressions of the file. */
  const listColumns = (table: string): { name: string; label: string }[] =>
    prepare(`PRAGMA table_xinfo(${quote(table)})`)
      .all()
      .filter(({ hidden }) => Number(hidden) === 0 || Number(hidden) === 3)
      .slice(0, limits.columns)
      .map(({ name, type, pk }) => {
        const key = Number(pk) > 0 ? " PRIMARY KEY" : "";
        const kind = String(type) === "" ? "" : ` ${toLine(String(type).slice(0, 50))}`;
        return { name: String(name), label: `${toLine(String(name).slice(0, limits.text))}${kind}${key}` };
      });
  const readRows = (table: string, columns: readonly { name: string }[], offset: number, count: number): string[] => {
    const parts = columns.flatMap(({ name }, index) => {
      const column = quote(name);
      const shown = `CASE WHEN typeof(${column}) = 'blob' OR octet_length(${column}) > ${maxLoadedBytes} THEN NULL
        WHEN typeof(${column}) = 'text' THEN substr(${column}, 1, ${limits.text + 1}) ELSE ${column} END`;
      return [`typeof(${column}) AS t${index}`, `octet_length(${column}) AS b${index}`, `${shown} AS v${index}`];
    });
    const sql = `SELECT ${parts.join(", ")} FROM ${quote(table)} NOT INDEXED LIMIT ? OFFSET ?`;
    const rows: string[] = [];
    for (const row of prepare(sql).iterate(BigInt(count), BigInt(offset))) {
      const values = columns.map((_column, index) => {
        const [type, bytes, value] = [row[`t${index}`], row[`b${index}`], row[`v${index}`]];
        if (type === "null") return "NULL";
        if (type === "blob" || value === null) return `(${String(type)}, ${String(bytes)} bytes)`;
        const text = String(value);
        return text.length > limits.text
          ? `${toLine(text.slice(0, limits.text))}… (${String(bytes)} bytes)`
          : toLine(text);
      });
      rows.push(values.join(" | ").slice(0, limits.line));
    }
    return rows;
  };
  let countedInAll = 0;
  const countRows = (table: string): number | undefined => {
    if (countedInAll > limits.countedInAll) return undefined;
    const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM ${quote(table)} NOT INDEXED LIMIT ${limits.counted + 1})`;
    const count = Number(prepare(sql).all()[0]!["n"]);
    countedInAll += count;
    return count > limits.counted ? undefined : count;
  };
  const describeTable = (name: string): DatabaseTable => {
    let columns: { name: string; label: string }[] = [];
    try {
      columns = listColumns(name);
      const rows = readRows(name, columns, 0, firstRows);
      return { name, columns: columns.map(({ label }) => label), rows, count: countRows(name), problem: undefined };
    } catch (error) {
      const labels = columns.map(({ label }) => label);
      return { name, columns: labels, rows: [], count: undefined, problem: toMessage(error) };
    }
  };
  try {
    database = new DatabaseSync(query.path, { readOnly: true, enableDoubleQuotedStringLiterals: false });
    database.exec(
      "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0",
    );
    const all = prepare(`SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'view') LIMIT 20000`).all();
    try {
      unlinkSync(query.path);
    } catch {
      // Where an open file cannot be removed, it is removed afterwards.
    }
    // SQLite writes the definition of an ordinary table in this form.
    const isPlain = ({ type, name, sql }: Row) =>
      type === "table" && typeof name === "string" && typeof sql === "string" && sql.startsWith("CREATE TABLE ");
    const plain = all.filter(isPlain).map(({ name }) => String(name));
    const { table } = query;
    if (table !== undefined) {
      const name =
        plain.find((each) => each === table) ?? plain.find((each) => each.toLowerCase() === table.toLowerCase());
      if (name === undefined) return { kind: "missing", isView: all.some((row) => row["name"] === table) };
      const columns = listColumns(name);
      const rows = readRows(name, columns, query.offset - 1, query.maxRows + 1);
      const hasMore = rows.length > query.maxRows;
      return { kind: "rows", columns: columns.map(({ label }) => label), rows: rows.slice(0, query.maxRows), hasMore };
    }
    const shown = plain.filter((name) => !name.startsWith("sqlite_"));
    const others = all
      .filter((row) => !isPlain(row))
      .map(({ name, type }) => {
        const kind = type === "view" ? "a view" : "a virtual table";
        return `${toLine(String(name).slice(0, limits.text))} (${kind}, which is not run)`;
      });
    const tables = shown.slice(0, limits.tables).map(describeTable);
    return { kind: "tables", tables, others: others.slice(0, limits.names), left: shown.length - tables.length };
  } catch (error) {
    return { kind: "failed", message: toMessage(error) };
  } finally {
    database?.close();
  }
}
