import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionEntry } from "../session/entry.ts";
import { importSession } from "./import.ts";
import { exportJsonl } from "./jsonl.ts";
import { hostileTexts } from "../../test/export/hostile.ts";
import { sampleSource } from "../../test/export/sample.ts";

const lines = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const time = "2025-11-01T00:00:00.000Z";
const userMessage = (content: string) => ({ type: "message", timestamp: time, message: { role: "user", content } });

describe("importing an export restores it", () => {
  test("with every entry type and every text", () => {
    for (const text of hostileTexts) {
      // Types and roles are names, not text.
      const source = sampleSource((field) => (/type|role/i.test(field) ? "x" : text));
      const { header, entries, problems } = importSession(exportJsonl(source));
      expect(problems).toEqual([]);
      expect({ header, entries }).toEqual({ header: source.header, entries: source.entries });
    }
  });

  test("with unknown fields and types", () => {
    const entry = fc.record({
      type: fc.constantFrom("later", "message", "custom"),
      more: fc.jsonValue(),
      data: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(entry), fc.dictionary(fc.string(), fc.jsonValue()), (drafts, extraFields) => {
        const fields = JSON.parse(JSON.stringify(extraFields)) as typeof extraFields;
        const entries = drafts.map((draft, index) => ({
          ...draft,
          id: `i${index}`,
          parentId: index ? `i${index - 1}` : null,
          timestamp: time,
        }));
        const text = lines({ ...fields, type: "session", version: 3, id: "s", timestamp: time, cwd: "/" }, ...entries);
        const { crc: _, branchedFrom: __, ...kept } = fields;
        const read = importSession(text);
        expect(read.problems).toEqual([]);
        expect(read.entries).toEqual(JSON.parse(JSON.stringify(entries)));
        expect(read.header).toEqual({
          ...kept,
          type: "session",
          version: 3,
          id: "s",
          timestamp: time,
          cwd: "/",
          ...(typeof fields.branchedFrom === "string" && { parentSession: fields.branchedFrom }),
        });
        const source = { header: read.header!, entries: read.entries, leafId: null };
        expect(importSession(exportJsonl(source))).toEqual(read);
      }),
      { numRuns: 200 },
    );
  });

  test("without checksums, which belong to the bytes of another file", () => {
    const text = lines(
      { type: "session", version: 3, id: "s", timestamp: time, cwd: "/", crc: "00000000" },
      { ...userMessage("a"), id: "a", parentId: null, data: { crc: 1 }, crc: "00000000" },
    );
    const read = importSession(text);
    expect(read.entries).toEqual([{ ...userMessage("a"), id: "a", parentId: null, data: { crc: 1 } }]);
    expect(exportJsonl({ header: read.header!, entries: read.entries, leafId: "a" })).not.toContain("00000000");
  });
});

test("the current branch is exported with its labels and the name, on whatever branch they were set", () => {
  const entry = (id: string, parentId: string | null, fields: object) => ({ id, parentId, timestamp: time, ...fields });
  const header = { type: "session" as const, version: 3, id: "s", timestamp: time, cwd: "/" };
  const entries = [
    entry("a", null, userMessage("a")),
    entry("n", "a", { type: "session_info", name: "first" }),
    entry("b", "n", userMessage("b")),
    entry("c", "b", { type: "label", targetId: "a", label: "old" }),
    entry("d", "c", { type: "label", targetId: "a", label: "start" }),
    entry("e", "d", { type: "label", targetId: "b", label: "elsewhere" }),
    entry("f", "e", { type: "session_info", name: "N" }),
    entry("g", "a", userMessage("g")),
    entry("h", "g", { type: "label", targetId: "g", label: "end" }),
  ] as unknown as SessionEntry[];
  const read = importSession(exportJsonl({ header, entries, leafId: "h" }, { branch: "current" }));
  expect(read.problems).toEqual([]);
  expect(read.entries.map(({ id, parentId }) => `${parentId} ${id}`)).toEqual(["null a", "a g", "g h", "h d", "d f"]);
  const all = importSession(exportJsonl({ header, entries, leafId: "h" }));
  expect(all.entries).toEqual(entries);
  expect(importSession(exportJsonl({ header, entries, leafId: null }, { branch: "current" })).entries).toEqual([
    { ...entries[6], parentId: null },
  ]);
});

test("an entry whose parent is missing is on the current branch with all entries above it", () => {
  const header = { type: "session" as const, version: 3, id: "s", timestamp: time, cwd: "/" };
  const entries = [
    { ...userMessage("a"), id: "a", parentId: null },
    null,
    { ...userMessage("c"), id: "c", parentId: "b" },
    { ...userMessage("d"), id: "d", parentId: "c" },
  ] as unknown as SessionEntry[];
  const read = importSession(exportJsonl({ header, entries, leafId: "d" }, { branch: "current" }));
  expect(read.problems).toEqual([]);
  expect(read.entries.map(({ id, parentId }) => `${parentId} ${id}`)).toEqual(["null a", "a c", "c d"]);
  const all = importSession(exportJsonl({ header, entries, leafId: "d" }));
  expect(all.problems.map(({ line, kind }) => `${line} ${kind}`)).toEqual(["3 reattached"]);
});

describe("older files", () => {
  test("version 1 becomes a chain with ids made from line numbers", () => {
    const text = lines(
      { type: "session", id: "s", timestamp: time, cwd: "/p", provider: "acme", branchedFrom: "/old.jsonl" },
      userMessage("one"),
      { type: "model_change", timestamp: time, provider: "acme", modelId: "m" },
      userMessage("two"),
      { type: "compaction", timestamp: time, summary: "so far", firstKeptEntryIndex: 3, tokensBefore: 9 },
      {
        type: "message",
        timestamp: time,
        message: { role: "hookMessage", customType: "h", content: "hi", display: true },
      },
    );
    expect(importSession(text)).toEqual({
      header: {
        type: "session",
        version: 3,
        id: "s",
        timestamp: time,
        cwd: "/p",
        provider: "acme",
        parentSession: "/old.jsonl",
      },
      entries: [
        { ...userMessage("one"), id: "00000002", parentId: null },
        { type: "model_change", timestamp: time, provider: "acme", modelId: "m", id: "00000003", parentId: "00000002" },
        { ...userMessage("two"), id: "00000004", parentId: "00000003" },
        {
          type: "compaction",
          timestamp: time,
          summary: "so far",
          firstKeptEntryId: "00000004",
          tokensBefore: 9,
          id: "00000005",
          parentId: "00000004",
        },
        {
          type: "message",
          timestamp: time,
          message: { role: "custom", customType: "h", content: "hi", display: true },
          id: "00000006",
          parentId: "00000005",
        },
      ],
      problems: [],
    });
  });

  test("version 2 keeps its tree, and its roles are renamed", () => {
    const text = lines(
      { type: "session", version: 2, id: "s", timestamp: time, cwd: "/p", parentSession: "/old.jsonl" },
      { ...userMessage("one"), id: "a1", parentId: null },
      {
        type: "message",
        id: "b2",
        parentId: "a1",
        timestamp: time,
        message: { role: "hookMessage", customType: "h", content: "hi" },
      },
      { ...userMessage("two"), id: "c3", parentId: "a1" },
    );
    const { header, entries, problems } = importSession(text);
    expect(problems).toEqual([]);
    expect(header).toMatchObject({ version: 3, parentSession: "/old.jsonl" });
    expect(entries.map(({ id, parentId }) => `${parentId} ${id}`)).toEqual(["null a1", "a1 b2", "a1 c3"]);
    expect(entries[1]).toMatchObject({ message: { role: "custom", customType: "h", content: "hi" } });
  });
});

describe("a damaged file is read as far as possible", () => {
  const header = { type: "session", version: 3, id: "s", timestamp: time, cwd: "/" };
  const read = (text: string) => {
    const { entries, problems, header } = importSession(text);
    return {
      header: header?.id,
      entries: entries.map(({ id, parentId }) => `${parentId} ${id}`),
      problems: problems.map(({ line, kind }) => `${line} ${kind}`),
    };
  };

  test("unreadable lines are reported by number, and the entries after them are reattached", () => {
    const text = [
      JSON.stringify(header),
      JSON.stringify({ ...userMessage("a"), id: "a", parentId: null }),
      '{"type":"message","id":"b","par',
      "",
      "[1]",
      "null",
      '{"id":"x"}',
      JSON.stringify({ ...userMessage("c"), id: "c", parentId: "b" }),
      JSON.stringify({ ...userMessage("d"), id: "d", parentId: "c" }),
      '{"type":"mess',
    ].join("\r\n");
    expect(read(text)).toEqual({
      header: "s",
      entries: ["null a", "a c", "c d"],
      problems: ["3 unreadable", "5 unreadable", "6 unreadable", "7 unreadable", "8 reattached", "10 unreadable"],
    });
  });

  test("a line that does not match its checksum is read and reported, whatever its line ends", () => {
    const source = {
      header: { ...header, type: "session" as const },
      entries: [
        { ...userMessage("delete nothing"), id: "a", parentId: null },
        { ...userMessage("b"), id: "b", parentId: "a" },
      ] as unknown as SessionEntry[],
      leafId: "b",
    };
    const whole = exportJsonl(source);
    const changed = whole.replace("delete nothing", "delete Nothing");
    for (const end of ["\n", "\r\n"]) {
      expect(read(whole.replaceAll("\n", end)).problems).toEqual([]);
      expect(read(changed.replaceAll("\n", end))).toEqual({
        header: "s",
        entries: ["null a", "a b"],
        problems: ["2 changed"],
      });
    }
    expect(read(whole.replace('"cwd":"/"', '"cwd":"/x"')).problems).toEqual(["1 changed"]);
    expect(read(whole.replace('"crc"', '"cRc"')).problems).toEqual(["1 changed"]);
  });

  test("without a header the entries are read, and their ids tell the version", () => {
    expect(read(lines({ ...userMessage("a"), id: "a", parentId: null }))).toEqual({
      header: undefined,
      entries: ["null a"],
      problems: ["1 no_header"],
    });
    expect(read(lines(userMessage("a"), userMessage("b")))).toMatchObject({
      entries: ["null 00000001", "00000001 00000002"],
    });
    expect(read("")).toEqual({ header: undefined, entries: [], problems: ["1 no_header"] });
  });

  test("missing and duplicate ids are replaced by ids made from the line number", () => {
    const text = lines(
      header,
      { ...userMessage("a"), id: "00000004", parentId: null },
      { ...userMessage("b"), parentId: "00000004" },
      { ...userMessage("c"), id: "00000004", parentId: "00000003" },
      { ...userMessage("d"), id: 7, parentId: 7 },
    );
    expect(read(text)).toEqual({
      header: "s",
      entries: ["null 00000004", "00000004 00000003", "00000003 10000004", "10000004 00000005"],
      problems: ["3 renamed", "4 renamed", "5 renamed", "5 reattached"],
    });
  });

  test("a newer version, a second header and a byte order mark are accepted", () => {
    const text = `\uFEFF${lines({ ...header, version: 9 }, { ...userMessage("a"), id: "a", parentId: null }, header)}`;
    expect(read(text)).toEqual({ header: "s", entries: ["null a"], problems: ["1 newer_version", "3 extra_header"] });
  });

  test("whatever the text, ids are unique and parents come before their children", () => {
    const line = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc
        .record(
          {
            type: fc.constantFrom("session", "message", "compaction", "label"),
            version: fc.constantFrom(1, 2, 3),
            id: fc.oneof(fc.constantFrom("a", "b", "00000002"), fc.jsonValue()),
            parentId: fc.oneof(fc.constantFrom("a", "b", null), fc.jsonValue()),
            firstKeptEntryIndex: fc.oneof(fc.integer(), fc.jsonValue()),
            message: fc.jsonValue(),
          },
          { requiredKeys: ["type"] },
        )
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.array(line), (texts) => {
        const { entries } = importSession(texts.join("\n"));
        const known = new Set<string | null>([null]);
        for (const { id, parentId } of entries) {
          expect(known.has(parentId)).toBe(true);
          expect(known.has(id)).toBe(false);
          known.add(id);
        }
        expect(importSession(texts.join("\n"))).toEqual(importSession(texts.join("\n")));
      }),
      { numRuns: 300 },
    );
  });
});
