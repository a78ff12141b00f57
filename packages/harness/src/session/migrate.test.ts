import { describe, expect, test } from "vitest";
import { createMigration, idOfLine, migrateHeader, getVersion } from "./migrate.ts";

const time = "2025-11-01T00:00:00.000Z";

describe("the first kept entry of a compaction of version 1", () => {
  /** For a compaction in line `line`, after entries in `lines`. */
  const firstKept = (lines: number[], compaction: object, line = 20) => {
    const migrate = createMigration(1);
    for (const line of lines) migrate({ type: "message", timestamp: time }, line);
    const entry = migrate({ type: "compaction", summary: "s", ...compaction }, line);
    expect(entry).not.toHaveProperty("firstKeptEntryIndex");
    return entry.type === "compaction" && entry.firstKeptEntryId;
  };

  test("is named by its line, counted from 0 for the header", () => {
    expect(firstKept([2, 3, 4], { firstKeptEntryIndex: 2 })).toBe(idOfLine(3));
  });

  test("is the next one if that line cannot be read", () => {
    expect(firstKept([2, 4, 5], { firstKeptEntryIndex: 2 })).toBe(idOfLine(4));
    expect(firstKept([2, 4, 5], { firstKeptEntryIndex: 0 })).toBe(idOfLine(2));
    expect(firstKept([2, 4, 5], { firstKeptEntryIndex: -7 })).toBe(idOfLine(2));
  });

  test("is the compaction itself if it kept nothing", () => {
    expect(firstKept([2, 3], { firstKeptEntryIndex: 19 })).toBe(idOfLine(20));
    expect(firstKept([2, 3], { firstKeptEntryIndex: 500 })).toBe(idOfLine(20));
    expect(firstKept([2, 3], {})).toBe(idOfLine(20));
    expect(firstKept([2, 3], { firstKeptEntryIndex: "2" })).toBe(idOfLine(20));
  });

  test("is not changed if it has an id", () => {
    expect(firstKept([2, 3], { firstKeptEntryIndex: 1, firstKeptEntryId: "x" })).toBe("x");
  });
});

test("entries of version 1 that have ids and parents keep them", () => {
  const migrate = createMigration(1);
  expect(migrate({ type: "message", id: "a", parentId: null }, 2)).toMatchObject({ id: "a", parentId: null });
  expect(migrate({ type: "message" }, 3)).toMatchObject({ id: "00000003", parentId: "a" });
  expect(migrate({ type: "message", id: "b", parentId: null }, 4)).toMatchObject({ id: "b", parentId: null });
});

test("inputs are not changed, and current entries are returned as they are", () => {
  const message = Object.freeze({ role: "hookMessage", content: "x" });
  const entry = Object.freeze({ type: "message", id: "a", parentId: null, message });
  expect(createMigration(2)(entry, 2)).toEqual({ ...entry, message: { role: "custom", content: "x" } });
  expect(createMigration(3)(entry, 2)).toBe(entry);
  expect(createMigration(4)(entry, 2)).toBe(entry);
});

test("a header of any version gets the current version and all fields", () => {
  expect([{}, { version: 2 }, { version: "3" }, { version: 0 }, { version: 3.5 }].map(getVersion)).toEqual([
    1, 2, 1, 1, 3,
  ]);
  expect(migrateHeader({ type: "session", id: "s", timestamp: time, cwd: "/", more: 1 })).toEqual({
    type: "session",
    version: 3,
    id: "s",
    timestamp: time,
    cwd: "/",
    more: 1,
  });
  expect(migrateHeader({ id: 7 })).toEqual({ type: "session", version: 3, id: "", timestamp: "", cwd: "" });
});
