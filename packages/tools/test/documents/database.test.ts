import { createHash } from "node:crypto";
import { createRequire, isBuiltin } from "node:module";
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkSchema } from "../../src/documents/database-file.ts";
import { scratch } from "../scratch.ts";
import { createZip } from "./zip-writer.ts";
import { describeRead, readDocument, withFiles } from "./read-kit.ts";

interface Database {
  exec(sql: string): void;
  close(): void;
}

const hasSqlite = isBuiltin("node:sqlite");
console.log(
  hasSqlite
    ? `Node ${process.version} has SQLite: the sentence for those that have none is not tried.`
    : `Node ${process.version} has no SQLite: that databases are shown is not tried.`,
);

function openDatabase(path: string): Database {
  const { DatabaseSync } = createRequire(import.meta.url)("node:sqlite") as {
    DatabaseSync: new (path: string) => Database;
  };
  return new DatabaseSync(path);
}

function withDatabase(sql: string, name = "a.db"): string {
  const cwd = scratch();
  const database = openDatabase(join(cwd, name));
  database.exec(sql);
  database.close();
  return cwd;
}

const some = `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, data BLOB, height REAL);
  INSERT INTO users VALUES (1, 'Ann', x'0102', 1.5), (2, NULL, NULL, NULL), (9007199254740993, 'a | "b"' || char(10), NULL, 2);
  CREATE TABLE notes (text);
  INSERT INTO notes WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 250) SELECT 'note ' || i FROM n;`;

/** All files of a directory, with what is in them and when they were changed. */
const takeState = (cwd: string) =>
  readdirSync(cwd).map((name) => {
    const [path, { mtimeMs, ino }] = [join(cwd, name), statSync(join(cwd, name))];
    return [name, ino, mtimeMs, createHash("sha256").update(readFileSync(path)).digest("hex")];
  });

const header = (pageBytes: number): Buffer => {
  const bytes = Buffer.alloc(100);
  bytes.write("SQLite format 3\0", 0, "latin1");
  bytes.writeUInt16BE(pageBytes, 16);
  return bytes;
};

test.skipIf(hasSqlite)("without SQLite in Node, a sentence says so", async () => {
  const cwd = withFiles({ "a.db": header(4_096) });
  expect(await describeRead(cwd, { path: "a.db" })).toMatch(
    /^unavailable: .*since version 22\.13 .*sqlite3 or python3/,
  );
});

describe.skipIf(!hasSqlite)("a SQLite database", () => {
  test("is shown by its tables, with columns, counts and first rows", async () => {
    const cwd = withDatabase(some);
    const before = takeState(cwd);
    expect((await readDocument(cwd, { path: "a.db" })).text).toBe(`[a.db: SQLite database, 2 tables.]

[Table users, 3 rows]
id INTEGER PRIMARY KEY | name TEXT | data BLOB | height REAL
1 | Ann | (blob, 2 bytes) | 1.5
2 | NULL | NULL | NULL
9007199254740993 | "a | \\"b\\"\\n" | NULL | 2

[Table notes, 250 rows]
text
note 1
note 2
note 3
[More rows: read a.db#notes]`);
    expect(takeState(cwd)).toEqual(before);
  });

  test("gives the rows of a table, which offset and limit count", async () => {
    const cwd = withDatabase(some);
    expect(await readDocument(cwd, { path: "a.db#notes", offset: 249 })).toMatchObject({
      text: "[a.db#notes, rows from 249 on]\ntext\nnote 249\nnote 250",
      details: { path: join(cwd, "a.db"), firstLine: 249, shownLines: 2, totalLines: 250, unit: "rows" },
    });
    const { text } = await readDocument(cwd, { path: "a.db#NOTES", offset: 3, limit: 2 });
    expect(text).toBe(
      "[a.db#NOTES, rows from 3 on]\ntext\nnote 3\nnote 4\n\n[Showing rows 3-4. Continue with offset=5.]",
    );
    expect(await describeRead(cwd, { path: "a.db#notes", offset: 251 })).toMatch(/^invalid_input: Row 251 is beyond/);
    expect(await describeRead(cwd, { path: "a.db#notes", offset: 2 ** 40 })).toMatch(/^invalid_input: /);
    expect(await describeRead(cwd, { path: "a.db#no" })).toMatch(/^not_found: no is not a table/);
  });

  test("with a log beside it shows what the log adds, and nothing is changed", async () => {
    const cwd = scratch();
    const database = openDatabase(join(cwd, "a.db"));
    database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)");
    for (let row = 1; row <= 5; row++) database.exec(`INSERT INTO t VALUES (${row})`);
    const before = takeState(cwd);
    expect(before.map(([name]) => name)).toEqual(["a.db", "a.db-shm", "a.db-wal"]);
    expect((await readDocument(cwd, { path: "a.db" })).text).toContain("[Table t, 5 rows]\nx\n1\n2\n3");
    expect(takeState(cwd)).toEqual(before);
    // A program that is killed while it writes leaves a part of a change.
    database.exec("BEGIN; INSERT INTO t VALUES (6)");
    truncateSync(join(cwd, "a.db-wal"), statSync(join(cwd, "a.db-wal")).size - 10);
    expect((await readDocument(cwd, { path: "a.db" })).text).toContain("[Table t, 4 rows]");
    database.exec("ROLLBACK");
    database.close();
  });

  test("that a writer changes all the time is shown as it was at one moment", async () => {
    const cwd = withDatabase("CREATE TABLE a (x); CREATE TABLE b (x)");
    const database = openDatabase(join(cwd, "a.db"));
    database.exec("PRAGMA journal_mode = WAL");
    for (let turn = 0; turn < 10; turn++) {
      const reading = describeRead(cwd, { path: "a.db" });
      for (let row = 0; row < 5; row++) {
        database.exec("BEGIN; INSERT INTO a VALUES (1); INSERT INTO b VALUES (1); COMMIT");
        if (row === turn % 5) database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        await new Promise((resolve) => setImmediate(resolve));
      }
      const text = await reading;
      const counts = [...text.matchAll(/\[Table \w+, (\d+) row/g)].map(([, count]) => count);
      if (!text.startsWith("busy")) expect(counts[0]).toBe(counts[1]);
    }
    database.close();
  });

  test("in an archive is not unpacked", async () => {
    const content = readFileSync(join(withDatabase(some), "a.db"));
    const cwd = withFiles({ "a.zip": createZip([{ name: "b.db", content }]) });
    expect(await describeRead(cwd, { path: "a.zip#b.db" })).toMatch(/^binary: .*a database in an archive/);
  });
});

/** An inner page of a tree, all of whose children are the same page. */
function createInnerPage(child: number): Buffer {
  const page = Buffer.alloc(512);
  const count = 70;
  page[0] = 0x05;
  page.writeUInt16BE(count, 3);
  page.writeUInt16BE(512 - 5 * count, 5);
  page.writeUInt32BE(child, 8);
  for (let index = 0; index < count; index++) {
    const cell = 512 - 5 * (index + 1);
    page.writeUInt16BE(cell, 12 + 2 * index);
    page.writeUInt32BE(child, cell);
    page[cell + 4] = index;
  }
  return page;
}

/** A database of few pages whose table has 70 times as many rows with each level. */
function createBomb(): Buffer {
  const cwd = withDatabase("PRAGMA page_size = 512; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3)");
  const bytes = readFileSync(join(cwd, "a.db"));
  const [first, leaf] = [bytes.subarray(0, 512), bytes.subarray(512, 1_024)];
  const pages = [3, 4, 5, 6, 7, 8, 9, 10, 11].map(createInnerPage);
  const bomb = Buffer.concat([first, ...pages, leaf]);
  bomb.writeUInt32BE(bomb.length / 512, 28);
  return bomb;
}

const read = (sql: string): Buffer => readFileSync(join(withDatabase(sql), "a.db"));

function patch(bytes: Buffer, change: (bytes: Buffer) => void): Buffer {
  change(bytes);
  return bytes;
}

/** Name, file, path, and what has to be said. */
const hostile: [string, () => Buffer, string, RegExp][] = [
  ["was cut off", () => read(some).subarray(0, 3_000), "a.db", /^binary: .*damaged database/],
  ["is only its header", () => header(4_096), "a.db", /^binary: .*damaged database/],
  ["has pages of a wrong size", () => Buffer.concat([header(77), Buffer.alloc(9_000)]), "a.db", /header is wrong/],
  [
    "is garbage after its header",
    () => Buffer.concat([header(512), Buffer.alloc(5_000, 7)]),
    "a.db",
    /of a wrong kind/,
  ],
  [
    "has definitions that contain themselves",
    () => Buffer.concat([header(512), createInnerPage(1).subarray(0, 412), createInnerPage(1)]),
    "a.db",
    /^binary: .*definitions/,
  ],
  [
    "has more rows than there are atoms",
    createBomb,
    "a.db",
    /\[Table t, more than a million rows[^]*x\n1\n2\n3\n\[More rows/,
  ],
  ["has rows without an end", createBomb, "a.db#t", /Showing rows 1-100\. Continue with offset=101/],
  [
    "has a view that does not end",
    () => read("CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"),
    "a.db",
    /^\[a\.db: SQLite database, 0 tables\.\]\n\n\[v \(a view, which is not run\)\]$/,
  ],
  [
    "is asked for a view",
    () => read("CREATE VIEW v AS SELECT randomblob(1000000000)"),
    "a.db#v",
    /^not_found: v is a view.*not run/,
  ],
  [
    "has columns that are calculated",
    () => read("CREATE TABLE t (a, b AS (zeroblob(1000000000)), c AS (a + 1) STORED); INSERT INTO t (a) VALUES (1)"),
    "a.db",
    /\[Table t, 1 row\]\na \| c\n1 \| 2$/,
  ],
  [
    "has a table of a module",
    () => read("CREATE VIRTUAL TABLE f USING fts5(x)"),
    "a.db",
    /\[f \(a virtual table, which is not run\)\]/,
  ],
  [
    "has large values",
    () =>
      read(
        "CREATE TABLE t (a, b, c); INSERT INTO t VALUES (printf('%.*c', 3000000, 'x'), zeroblob(3000000), printf('%.*c', 3000, 'y'))",
      ),
    "a.db",
    /\n\(text, 3000000 bytes\) \| \(blob, 3000000 bytes\) \| y{200}… \(3000 bytes\)$/,
  ],
  [
    "has names that are SQL",
    () => read(`CREATE TABLE "t""; DROP TABLE u; --" ("a""b" "x") ; CREATE TABLE u (x); INSERT INTO u VALUES (1)`),
    "a.db",
    /\[Table t"; DROP TABLE u; --, 0 rows\]\n"a\\"b" x\n\n\[Table u, 1 row\]/,
  ],
  [
    "has hundreds of tables",
    () =>
      read(`BEGIN; ${Array.from({ length: 300 }, (_unused, index) => `CREATE TABLE t${index} (x);`).join("")} COMMIT`),
    "a.db",
    /300 tables[^]*\[100 more tables are not listed\.\]/,
  ],
  [
    "has a table whose pages are missing",
    () =>
      patch(read("PRAGMA page_size = 512; CREATE TABLE t (x); INSERT INTO t VALUES (1)"), (bytes) =>
        bytes.fill(0, 512, 1_024),
      ),
    "a.db",
    /\[Table t, damaged: /,
  ],
];

describe.skipIf(!hasSqlite)("a hostile database", () => {
  test.each(hostile)("that %s is refused, or shown as far as it can be", async (_name, create, path, said) => {
    const cwd = withFiles({ "a.db": create() });
    const before = takeState(cwd);
    expect(await describeRead(cwd, { path })).toMatch(said);
    expect(takeState(cwd)).toEqual(before);
  });

  test("with any change of any byte is shown, or refused", async () => {
    const bytes = read(`PRAGMA page_size = 512; ${some}`);
    const cwd = scratch();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(2_047), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        async (changes) => {
          const damaged = Buffer.from(bytes);
          for (const [index, byte] of changes) if (index > 15) damaged[index] = byte;
          writeFileSync(join(cwd, "a.db"), damaged);
          expect(typeof (await describeRead(cwd, { path: "a.db" }))).toBe("string");
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe("the tree of definitions", () => {
  const check = (pages: Readonly<Record<number, Buffer>>) => checkSchema(async (page) => pages[page]);
  const leaf = (start: number, size: number[]): Buffer => {
    const page = Buffer.alloc(512);
    page[start] = 0x0d;
    page.writeUInt16BE(1, start + 3);
    page.writeUInt16BE(400, start + 8);
    page.set(size, 400);
    return page;
  };
  const root = (child: number): Buffer =>
    Buffer.concat([Buffer.alloc(100), createInnerPage(child).subarray(0, 12), Buffer.alloc(400)]);
  const rootOf = (child: number): Buffer => {
    const page = root(child);
    page.writeUInt16BE(0, 103);
    return page;
  };

  test.each<[string, Record<number, Buffer>, RegExp | undefined]>([
    ["one page", { 1: leaf(100, [9, 1]) }, undefined],
    ["two levels", { 1: rootOf(2), 2: leaf(0, [9, 1]) }, undefined],
    ["a circle", { 1: rootOf(2), 2: rootOf(1).subarray(100) }, /used twice|damaged|wrong kind/],
    ["a page that is missing", { 1: rootOf(7) }, /missing/],
    ["a definition of a gigabyte", { 1: leaf(100, [0x84, 0x80, 0x80, 0x80, 0x00]) }, /too large/],
    ["a size without an end", { 1: leaf(100, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]) }, /too large/],
    ["another kind of tree", { 1: Buffer.alloc(512, 2) }, /wrong kind/],
  ])("with %s is followed no further than it may be", async (_name, pages, problem) => {
    const said = await check(pages);
    if (problem) expect(said).toMatch(problem);
    else expect(said).toBeUndefined();
  });
});
