import fc from "fast-check";
import { expect, test } from "vitest";
import { EntryTable } from "./entry-table.ts";
import { decodeIndex, encodeIndex } from "./index-file.ts";
import { recover } from "./recover.ts";
import { RowsById } from "./rows-by-id.ts";

test("the row of an id is the one that was set last, whatever ids there are", () => {
  const law = fc.property(fc.array(fc.oneof(fc.integer(), fc.nat(20)), { maxLength: 300 }), fc.nat(40), (ids, size) => {
    const rows = new RowsById((row) => ids[row]!, size);
    for (const [row, id] of ids.entries()) rows.set(id, row);
    for (const id of [...ids, 7, -1, 0]) expect(rows.get(id)).toBe(ids.lastIndexOf(id));
  });
  fc.assert(law);
});

test("signals and timers are served while a large index is encoded and decoded", async () => {
  const table = new EntryTable();
  for (let row = 0; row < 3_500_000; row++) {
    table.add({ offset: row * 100, length: 99, parent: row - 1, id: row, kind: "user", isReattached: false });
  }
  let turns = 0;
  const count = async <T>(work: Promise<T>): Promise<T> => {
    turns = 0;
    let isDone = false;
    const tick = () => {
      turns++;
      if (!isDone) setImmediate(tick);
    };
    setImmediate(tick);
    return await work.finally(() => (isDone = true));
  };
  const known = { ...recover(Buffer.alloc(0)), table, end: 350_000_000 };
  const bytes = await count(encodeIndex(known)({ identity: "1", tail: Buffer.alloc(0) }));
  const decoded = await count(decodeIndex(bytes));
  expect(turns).toBeGreaterThanOrEqual(5);
  expect(decoded?.recovered.table.count).toBe(3_500_000);
  // More rows than are searched one by one.
  for (const id of [-5, -6, 17, 3_499_999]) expect(decoded?.recovered.table.find(id)).toBe(id < 0 ? -1 : id);
});
