/** Malicious files and files of other programs: they are read as far as possible, with little effort. */
import { constants } from "node:buffer";
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { EntryTable, idNumber } from "../../src/session/entry-table.ts";
import { encodeIndex, tailBytes } from "../../src/session/index-file.ts";
import { encodeLine, maxLineBytes } from "../../src/session/line.ts";
import { SessionLog } from "../../src/session/log.ts";
import { createMemoryStore, MemoryLog } from "@tau/tools/storage";
import { recover } from "../../src/session/recover.ts";
import { Scanner } from "../../src/session/scan.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { LogStore } from "@tau/tools/storage";
import { entry, header, hexId, createLog, patience, plainLine, quickScratch, sessionIds, user } from "./kit.ts";

/** Adds a right checksum to a line, even if it is not JSON. */
function addChecksum(line: string): string {
  const start = line.slice(0, -1);
  return `${start},"crc":"${crc32(start).toString(16).padStart(8, "0")}"}\n`;
}

const getKinds = ({ problems }: { problems: readonly { kind: string }[] }) => problems.map(({ kind }) => kind);

const newFile = (content: string | Buffer, name = "2026-01-01T00-00-00-000Z_hostile.jsonl"): string => {
  const path = join(quickScratch(), name);
  writeFileSync(path, content);
  return path;
};

describe("a line with a right checksum", () => {
  const own = encodeLine(entry(2)).toString();
  const start = own.slice(0, own.indexOf(',"message"'));
  const bad: [string, string, { ids: string[]; kinds: string[] }][] = [
    [
      "that is not JSON",
      `${start},"message":{"role":"user",garbage}}`,
      { ids: [entry(1).id, entry(3).id], kinds: ["damaged", "reattached"] },
    ],
    [
      "that has two ids",
      `${start},"message":{"role":"user","content":"x"},"id":"cccccccc"}`,
      { ids: [entry(1).id, "cccccccc", entry(3).id], kinds: ["reattached"] },
    ],
  ];
  for (const [name, line, { ids, kinds }] of bad) {
    for (const isLast of [false, true]) {
      test(`${name}${isLast ? ", at the end," : ""} costs only its own entry`, async () => {
        const rest = isLast ? [] : [encodeLine(entry(3))];
        const path = newFile(Buffer.concat([createLog(1), Buffer.from(addChecksum(line)), ...rest]));
        const expected = isLast ? ids.slice(0, -1) : ids;
        const session = await SessionManager.open(path);
        expect(await sessionIds(session)).toEqual(expected);
        expect(getKinds(session)).toEqual(isLast ? kinds.filter((kind) => kind === "damaged") : kinds);
        expect((await session.buildContext()).messages).toHaveLength(expected.length);
        const fresh = await session.appendMessage(user("after"));
        await session.close();
        const again = await SessionManager.open(path);
        expect(await sessionIds(again)).toEqual([...expected, fresh]);
        await again.close();
      });
    }
  }
});

test(
  "an entry that is too long to be read again is refused before anything is written",
  { timeout: patience(60) },
  async () => {
    const session = await SessionManager.inMemory("/project");
    const first = await session.appendMessage(user("before"));
    const append = () => session.appendMessage(user("x".repeat(maxLineBytes)));
    await expect(append()).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/too large.*256 MB/),
    });
    const second = await session.appendMessage(user("after"));
    expect(await sessionIds(session)).toEqual([first, second]);
    await session.close();
  },
);

describe("a file that is not a session", () => {
  const files: [string, Buffer][] = [
    ["a text without a last line feed", Buffer.from("line one\nline two\nmy precious last line")],
    ["a text", Buffer.from("line one\nline two\n")],
    ["a single line", Buffer.from("precious")],
    ["JSON", Buffer.from('{"name":"package"}')],
    ["JSON of many lines", Buffer.from('{\n  "name": "package"\n}\n')],
    ["binary", Buffer.alloc(3_000, 7)],
    ["zeros, more than a crash leaves", Buffer.alloc(100_000)],
    ["zeros with a text after them", Buffer.concat([Buffer.alloc(3_000), Buffer.from("precious")])],
  ];
  test.each(files)("%s is not changed by opening it", async (_name, bytes) => {
    const path = newFile(bytes, "notes.txt");
    const session = await SessionManager.open(path);
    expect(session.readOnly).toMatchObject({
      reason: "refused",
      message: expect.stringContaining("not a session file"),
    });
    expect(getKinds(session)[0]).toBe("no_session");
    await expect(session.appendMessage(user("x"))).rejects.toMatchObject({ code: "read_only" });
    await session.close();
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(readdirSync(join(path, "..")).filter((name) => name.includes(".torn-"))).toEqual([]);
  });

  const begun: [string, Buffer][] = [
    ...[1, 9, 40].map((length): [string, Buffer] => [
      `the first ${length} bytes of a session`,
      encodeLine(header()).subarray(0, length),
    ]),
    ["zeros, as a power loss leaves them", Buffer.alloc(3_000)],
  ];
  test.each(begun)("does not include %s: it can become a session", async (_name, bytes) => {
    const path = newFile(bytes);
    const session = await SessionManager.open(path);
    expect(session.readOnly).toBeUndefined();
    const id = await session.appendMessage(user("a"));
    await session.close();
    const again = await SessionManager.open(path);
    expect(await sessionIds(again)).toEqual([id]);
    await again.close();
  });
});

describe("a log of many bad lines", () => {
  const cases: [string, string][] = [
    ["x", "x\n"],
    ["braces", "{x}\n"],
    ["no entries", "{}\n"],
    ["zeros", "\0\n"],
  ];
  test.each(cases)("(%s) is read quickly, and only the first are listed", { timeout: patience(30) }, (_name, line) => {
    const count = 100_000;
    const bytes = Buffer.concat([createLog(1), Buffer.from(line.repeat(count))]);
    const before = process.cpuUsage();
    const recovered = recover(bytes);
    const { user: cpu } = process.cpuUsage(before);
    // 900, where little else runs.
    expect(cpu / 1_000, "milliseconds").toBeLessThan(9_000);
    expect(recovered.problems).toHaveLength(1_001);
    expect(recovered.problems.at(-1)).toMatchObject({
      kind: "more",
      message: expect.stringContaining(`${count - 1_000} more`),
    });
  });

  test("has no index that is larger than the log, and its count continues after the index", async () => {
    const path = newFile(Buffer.concat([createLog(1), Buffer.from("x\n".repeat(80_000))]));
    const session = await SessionManager.open(path);
    await session.close();
    expect(readdirSync(join(path, "..")).filter((name) => name.endsWith(".idx"))).toEqual([]);

    const lines = Buffer.from(`${"x".repeat(99)}\n`.repeat(2_000));
    const longerPath = newFile(Buffer.concat([createLog(1), lines]));
    await (await SessionManager.open(longerPath)).close();
    expect(statSync(`${longerPath}.idx`).size).toBeLessThan(lines.length);
    writeFileSync(longerPath, lines, { flag: "a" });
    const again = await SessionManager.open(longerPath);
    expect(again.problems).toHaveLength(1_001);
    expect(again.problems.at(-1)?.message).toContain("3000 more");
    await again.close();
  });
});

describe("a line without a line feed", () => {
  const megabyte = (byte: number | string) => Buffer.alloc(1024 * 1024, byte);
  const scan = (chunks: Iterable<Buffer>) => {
    const pieces: [offset: number, length: number, isWhole: boolean][] = [];
    const problems: string[] = [];
    const scanner = new Scanner({
      onPiece: ({ offset, length, facts }) => pieces.push([offset, length, facts !== undefined]),
      onProblem: ({ kind, line }) => problems.push(`${kind} ${line}`),
    });
    const before = process.memoryUsage().arrayBuffers;
    let maxMemory = 0;
    for (const chunk of chunks) {
      scanner.push(chunk);
      maxMemory = Math.max(maxMemory, process.memoryUsage().arrayBuffers - before);
    }
    scanner.end();
    return { pieces, problems, position: scanner.position, maxMemory };
  };
  function* repeated(count: number, byte: number | string) {
    // The same chunk each time, so that only the memory of the scanner counts.
    const chunk = megabyte(byte);
    for (let index = 0; index < count; index++) yield chunk;
  }
  const line = encodeLine(entry(1));
  const whole = line.subarray(0, -1);

  test("of zeros is only counted, and entries before and after it are found", () => {
    function* chunks() {
      yield whole;
      yield* repeated(300, 0);
      yield line;
      yield line;
      yield* repeated(300, 0);
    }
    const { pieces, problems, position, maxMemory } = scan(chunks());
    const [first, gap] = [whole.length, 300 * 1024 * 1024];
    expect(pieces).toEqual([
      [0, first, true],
      [first, gap, false],
      [first + gap, first, true],
      [first + gap + line.length, first, true],
    ]);
    expect(problems).toEqual(["damaged 1", "torn 3"]);
    expect(position).toBe(first + gap + 2 * line.length);
    expect(maxMemory).toBeLessThan(128 * 1024 * 1024);
  });

  test("of anything else is skipped when it is longer than any entry", { timeout: patience(30) }, () => {
    const count = maxLineBytes / 1024 / 1024 + 20;
    const length = count * 1024 * 1024;
    function* chunks() {
      yield* repeated(count, "x");
      yield Buffer.from("\n");
      yield line;
      yield* repeated(count, "x");
    }
    const { pieces, problems, position, maxMemory } = scan(chunks());
    expect(maxMemory).toBeLessThan(maxLineBytes / 2);
    expect(pieces).toEqual([
      [0, length, false],
      [length + 1, whole.length, true],
    ]);
    expect(problems).toEqual(["damaged 1", "torn 3"]);
    expect(position).toBe(length + 1 + line.length);
  });

  test("that is a hole in the file is cut off without a copy", async () => {
    const path = newFile(createLog(3));
    const { size } = statSync(path);
    const file = openSync(path, "r+");
    ftruncateSync(file, 200 * 1024 * 1024);
    closeSync(file);
    const session = await SessionManager.open(path);
    expect(session.problems).toMatchObject([{ kind: "torn", message: expect.stringContaining("nothing but zeros") }]);
    expect(await sessionIds(session)).toHaveLength(3);
    await session.close();
    expect(statSync(path).size).toBe(size);
    expect(readdirSync(join(path, "..")).filter((name) => name.includes(".torn-"))).toEqual([]);
  });

  test("that is torn and larger than one chunk is set aside whole", async () => {
    const torn = Buffer.from("torn ".repeat(700_000));
    const path = newFile(Buffer.concat([createLog(3), torn]));
    await (await SessionManager.open(path)).close();
    const [aside] = readdirSync(join(path, "..")).filter((name) => name.includes(".torn-"));
    expect(readFileSync(join(path, "..", aside!)).equals(torn)).toBe(true);
  });
});

test("an id of zeros is found, whatever is damaged after it", async () => {
  const zero = { ...entry(1), id: hexId(0) };
  const path = newFile(Buffer.concat([header(), zero].map(plainLine).concat(Buffer.from("{damaged}\n"))));
  const session = await SessionManager.open(path);
  expect((await session.getEntry(hexId(0)))?.id).toBe(hexId(0));
  expect(await session.getEntry(hexId(1))).toBeUndefined();
  await session.close();
  const { table } = recover(readFileSync(path));
  // Often enough that the table builds a map.
  for (let index = 0; index < 4_100_000; index++)
    if (table.find(0) !== 0) throw new Error(`not found the ${index}th time`);
});

test("an id is compared as a whole, also one that begins with eight hex digits", async () => {
  const parent = { ...entry(1), id: "01a1ec68-c947-737a-aa98-b90e865b97cc" };
  const { id, timestamp } = entry(2);
  const child = { type: "model_change", id, parentId: parent.id, timestamp, provider: "p", modelId: "m" };
  const lines = [header(), parent, child, entry(3)];
  const session = await SessionManager.open(newFile(Buffer.concat(lines.map(encodeLine))));
  expect(session.problems).toEqual([]);
  expect(await sessionIds(session)).toEqual([parent.id, id, entry(3).id]);
  await session.close();
});

test("a session of a newer version is read and written as the current version, with a problem", async () => {
  const path = newFile(Buffer.concat([{ ...header(), version: 4 }, entry(1)].map(plainLine)));
  const session = await SessionManager.open(path);
  expect(session.problems).toMatchObject([{ kind: "newer_version", line: 1, message: expect.stringContaining("4") }]);
  const fresh = await session.appendMessage(user("a"));
  expect(await sessionIds(session)).toEqual([entry(1).id, fresh]);
  await session.close();
});

test("a row that is too long for a string is damaged, and the others are read", async () => {
  const log = new MemoryLog();
  const store = createMemoryStore({ log });
  const bytes = createLog(2);
  await store.append(bytes, { position: 0, sync: false });
  // The index names this row, and it is used until the log is read.
  const known = recover(bytes);
  const table = new EntryTable();
  const length = constants.MAX_STRING_LENGTH + 1;
  table.add({ offset: 0, length, parent: -1, id: idNumber(entry(1).id), kind: "user", isReattached: false });
  const index = await encodeIndex({ ...known, table })({ identity: "memory 0", tail: bytes.subarray(-tailBytes) });
  const lying: LogStore = {
    ...store,
    readIndex: async () => index,
    read: async (position, size) => (size < length ? await store.read(position, size) : Buffer.alloc(size)),
  };
  const opened = await SessionLog.open({ store: lying, access: "read" });
  expect(opened.table.count).toBe(1);
  const entries = await opened.retryIfReloaded(() => opened.read(opened.table.entryRows()));
  expect(entries.map(({ id }) => id)).toEqual([entry(1).id, entry(2).id]);
  await opened.close();
});
