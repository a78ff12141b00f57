/** Values that JSON cannot express, and files that our writer would not produce. */
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChecksum, encodeLine } from "../../src/session/line.ts";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import {
  below,
  entry,
  factor,
  header,
  hexId,
  idsIn,
  createLog,
  patience,
  plainLine,
  quickScratch,
  randomFrom,
  sessionIds,
  times,
  user,
} from "./kit.ts";

/** Encodes an entry with this data, checks the line, and parses it again. */
function writeAndParse(data: unknown): { data?: unknown } {
  const line = encodeLine({ type: "custom", id: hexId(1), parentId: null, timestamp: "", customType: "x", data });
  expect(line.indexOf(0x0a)).toBe(line.length - 1);
  expect(readChecksum(line.subarray(0, -1))).toBe("right");
  const value = JSON.parse(line.toString()) as { id: string; data?: unknown };
  expect(value.id).toBe(hexId(1));
  return value;
}

const nested = (depth: number) => {
  let value: unknown = 1;
  for (let index = 0; index < depth; index++) value = index % 2 === 0 ? [value] : { value };
  return value;
};

const cycle: Record<string, unknown> = { name: "cycle", big: 1n };
cycle["self"] = cycle;
cycle["again"] = [cycle, cycle];

/** Objects that all refer to each other. */
const graph = Array.from({ length: 40 }, () => ({}) as Record<string, unknown>);
for (const item of graph) for (const [index, target] of graph.entries()) item[index] = target;

const throwing = () => {
  throw new Error("This cannot be written");
};

const oddValues: [string, unknown, unknown][] = [
  ["a cycle", cycle, { name: "cycle", big: "1", self: expect.stringContaining("left out") }],
  ["a graph of cycles", graph, expect.anything()],
  ["a BigInt", { big: 2n ** 70n, date: new Date(0) }, { big: String(2n ** 70n), date: "1970-01-01T00:00:00.000Z" }],
  [
    "a toJSON that throws",
    { bad: { toJSON: throwing }, good: 1 },
    { bad: expect.stringContaining("This cannot be written"), good: 1 },
  ],
  ["a getter that throws", Object.defineProperty({ good: 1 }, "bad", { get: throwing, enumerable: true }), { good: 1 }],
  [
    "a toJSON that returns itself",
    {
      toJSON() {
        return this;
      },
      big: 1n,
    },
    expect.anything(),
  ],
  ["a revoked proxy", [1n, revoked()], ["1", expect.stringContaining("left out")]],
  ["undefined", undefined, undefined],
  ["a symbol and a function", { symbol: Symbol("x"), function: throwing }, {}],
  ["lone surrogates and line separators", "\ud800x\udfff\u2028\u2029\0\n\r", "\ud800x\udfff\u2028\u2029\0\n\r"],
  ["numbers that JSON cannot express", [Number.NaN, -0, Number.POSITIVE_INFINITY], [null, 0, null]],
  ["a text that looks like an entry", '}{"type":"x"}\n{"type":"y"}', '}{"type":"x"}\n{"type":"y"}'],
];

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("a line can be encoded from", () => {
  test.each(oddValues)("%s", (_name, data, expected) => {
    const value = writeAndParse(data);
    if (expected === undefined) expect(value.data).toBeUndefined();
    else if (typeof expected === "object" && !Array.isArray(expected))
      expect(value.data).toMatchObject(expected as object);
    else expect(value.data).toEqual(expected);
  });

  test("a graph of cycles, with a limited length", () => {
    const line = encodeLine({ ...entry(1), graph });
    expect(line.length).toBeLessThan(16 * 1024 * 1024);
  });

  test("JSON of any depth", () => {
    for (const depth of [64, 1_000, 5_000, 10_000, 100_000]) writeAndParse(nested(depth));
  });

  test("any value", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: true,
      withNullPrototype: true,
    });
    fc.assert(
      fc.property(anything, (data) => void writeAndParse(data)),
      { numRuns: times(2_000) },
    );
  });

  test("an entry whose toJSON throws or returns something else", () => {
    for (const toJSON of [throwing, () => undefined, () => "a text", () => 1n]) {
      const line = encodeLine({ ...entry(1), toJSON });
      expect(readChecksum(line.subarray(0, -1))).toBe("right");
      expect(JSON.parse(line.toString())).toMatchObject(entry(1));
    }
  });

  test("an entry that has a checksum of an earlier line", () => {
    const first = JSON.parse(encodeLine(entry(1)).toString()) as object;
    const line = encodeLine(first);
    expect(line.equals(encodeLine(entry(1)))).toBe(true);
  });
});

test("an append of any value succeeds, and the file is valid", { timeout: patience(30) }, async () => {
  const session = await SessionManager.create("/project", quickScratch());
  const ids = [];
  for (const data of [...oddValues.map(([, value]) => value), nested(10_000)])
    ids.push(await session.appendCustomEntry("x", data));
  await session.close();
  const bytes = readFileSync(session.getSessionFile()!);
  expect(recover(bytes).problems).toEqual([]);
  expect(idsIn(bytes, recover(bytes))).toEqual(ids);
});

test("any appended text is read unchanged, by this process and the next", { timeout: patience(30) }, async () => {
  const directory = quickScratch();
  const texts = fc.array(
    fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.constant("\ud83d")),
    { maxLength: 8 },
  );
  const law = fc.asyncProperty(texts, async (input) => {
    const session = await SessionManager.create("/project", directory);
    for (const text of input) await session.appendMessage(user(text));
    const live = await session.getEntries();
    await session.close();
    if (input.length === 0) return;
    const again = await SessionManager.open(session.getSessionFile()!);
    expect(again.problems).toEqual([]);
    const read = await again.getEntries();
    expect(read).toEqual(live);
    expect(read.map((item) => item.type === "message" && item.message.role === "user" && item.message.content)).toEqual(
      input,
    );
    await again.close();
  });
  await fc.assert(law, { numRuns: times(100) });
});

test("when the clock jumps ten years, the order is that of the file and ids are unique", async () => {
  const tenYears = 10 * 365.25 * 24 * 3_600_000;
  const start = Date.parse("2026-10-25T00:59:59.999Z");
  const jumps = [0, -tenYears, tenYears, -tenYears, 1, -3_600_000, 0, 0, -1];
  let now = start;
  const clock = { now: () => now, monotonic: () => 0, setTimer: () => () => undefined };
  const session = await SessionManager.create("/project", quickScratch(), { clock });
  const ids = [];
  for (const jump of jumps) {
    now = start + jump;
    ids.push(await session.appendMessage(user(String(jump))));
  }
  await session.close();
  const again = await SessionManager.open(session.getSessionFile()!, { clock });
  expect(new Set(ids).size).toBe(jumps.length);
  expect(await sessionIds(again)).toEqual(ids);
  expect((await again.getBranch()).map(({ id }) => id)).toEqual(ids);
  expect(again.getLeafId()).toBe(ids.at(-1));
  expect(again.lastActiveAt).toBe(now);
  await again.close();
});

describe("a file of another program", () => {
  const three = [entry(1), entry(2), entry(3)];
  const ids = three.map(({ id }) => id);
  const lines = [header(), ...three].map((value) => JSON.stringify(value));
  const [first, second, third, fourth] = lines as [string, string, string, string];
  const broken = Buffer.from(second.replace("m1", "\u0001")).map((byte) => (byte === 1 ? 0xff : byte));
  const zeros = (count: number) => Buffer.alloc(count);
  const cases: [string, (string | Uint8Array)[], { lost?: number; kinds?: string[] }][] = [
    ["with a byte order mark", ["\uFEFF", ...lines.map((line) => `${line}\n`)], {}],
    ["with CRLF", lines.map((line) => `${line}\r\n`), {}],
    ["with blank lines and blanks around them", lines.map((line) => `\n  \r\n\t${line}  \n`), {}],
    ["without a last line feed", [lines.join("\n")], {}],
    ["with U+2028 in it, raw", lines.map((line) => `${line.replace("m2", "m\u2028\u2029\u0085")}\n`), {}],
    ["with a lone surrogate in it, as pi writes it", lines.map((line) => `${line.replace("m2", "\\ud800")}\n`), {}],
    ["with bytes that are not UTF-8", [`${first}\n`, broken, `\n${third}\n${fourth}\n`], { kinds: ["invalid_utf8"] }],
    ["whose last line feed became another byte", [`${lines.join("\n")}J`], { kinds: ["torn"] }],
    ["with zeros after its end", [lines.join("\n"), "\n", zeros(4096)], { kinds: ["torn"] }],
    ["with zeros after a line without a line feed", [lines.join("\n"), zeros(4096)], { kinds: ["torn"] }],
    [
      "with zeros before its end",
      [`${first}\n${second}\n`, zeros(99), `${third}\n${fourth}\n`],
      { kinds: ["damaged"] },
    ],
    ["with a line of zeros", [`${first}\n${second}\n`, zeros(99), `\n${third}\n${fourth}\n`], { kinds: ["damaged"] }],
    [
      "with zeros between two lines",
      [`${first}\n${second}`, zeros(9), `${third}\n${fourth}\n`],
      { kinds: ["damaged"] },
    ],
    ["with two lines that became one", [`${first}\n${second}${third}\n${fourth}\n`], { kinds: ["fused"] }],
    ["with four lines that became one", [lines.join("")], { kinds: ["fused", "fused", "fused"] }],
    [
      "with a torn line that another writer continued",
      [`${first}\n${second}\n${third.slice(0, 30)}${third}\n${fourth}\n`],
      { kinds: ["damaged", "fused"] },
    ],
    [
      "with a line that is not an entry",
      [`${first}\n${second}\n[]\n${third}\n42\n${fourth}\n`],
      { kinds: ["damaged", "damaged"] },
    ],
    ["without a header", [`${second}\n${third}\n${fourth}\n`], { kinds: ["no_header"] }],
    [
      "with a header that is damaged",
      [`${first.slice(0, -5)}\n${second}\n${third}\n${fourth}\n`],
      { kinds: ["no_header", "damaged"] },
    ],
    [
      "with a line that does not name its parent",
      [`${first}\n${second}\n${third.replace("parentId", "parentIe")}\n${fourth}\n`],
      { kinds: ["reattached"] },
    ],
    [
      "whose first line does not name its parent",
      [`${first}\n${second.replace('"parentId":null,', "")}\n${third}\n${fourth}\n`],
      {},
    ],
    [
      "with a line whose parent does not exist",
      [`${first}\n${second}\n${fourth}\n`],
      { lost: 1, kinds: ["reattached"] },
    ],
    [
      "that lost a line in the middle",
      [`${first}\n${second}\n{"type":"mess\n${fourth}\n`],
      { lost: 1, kinds: ["damaged", "reattached"] },
    ],
  ];

  test.each(cases)(
    "%s opens with its problems, is not changed, and can be appended to",
    async (_name, parts, { lost = 0, kinds = [] }) => {
      const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_odd.jsonl");
      const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
      writeFileSync(path, bytes);
      const session = await SessionManager.open(path);
      expect(session.problems.map(({ kind }) => kind)).toEqual(kinds);
      const kept = lost === 0 ? ids : [ids[0], ids[2]];
      expect(await sessionIds(session)).toEqual(kept);
      expect((await session.getBranch()).map(({ id }) => id)).toEqual(kept);
      const fresh = await session.appendMessage(user("after"));
      await session.close();
      const torn = session.problems.find(({ kind }) => kind === "torn");
      const after = readFileSync(path);
      expect(
        after.subarray(0, torn?.offset ?? bytes.length).equals(bytes.subarray(0, torn?.offset ?? bytes.length)),
      ).toBe(true);
      const again = await SessionManager.open(path);
      expect(await sessionIds(again)).toEqual([...kept, fresh]);
      expect(again.problems.map(({ kind }) => kind)).toEqual(kinds.filter((kind) => kind !== "torn"));
      await again.close();
    },
  );

  test("that has only a header keeps it", async () => {
    const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_odd.jsonl");
    writeFileSync(path, `${first}\n`);
    const session = await SessionManager.open(path);
    await session.appendMessage(user("a"));
    await session.close();
    expect(readFileSync(path, "utf8").match(/"type":"session"/g)).toHaveLength(1);
    expect(session.id).toBe("torture");
  });

  test("that is empty, as after a crash, can be written", async () => {
    const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_odd.jsonl");
    writeFileSync(path, "");
    const session = await SessionManager.open(path);
    const id = await session.appendMessage(user("a"));
    await session.close();
    const again = await SessionManager.open(path);
    expect(await sessionIds(again)).toEqual([id]);
    expect(again.id).toBe("odd");
    await again.close();
  });

  test("that is a symbolic link is not written", async () => {
    const directory = quickScratch();
    const session = await SessionManager.create("/project", directory);
    symlinkSync(join(directory, "elsewhere"), session.getSessionFile()!);
    await expect(session.appendMessage(user("a"))).rejects.toMatchObject({ code: "write_failed" });
  });
});

test("a block of zeros costs only the lines that it touches, and is reported", { timeout: patience(30) }, () => {
  const random = randomFrom();
  for (let run = 0; run < times(1_000); run++) {
    const bytes = createLog(20, run % 2 === 0 ? encodeLine : plainLine);
    const all = idsIn(bytes, recover(bytes));
    const from = below(random, bytes.length);
    const to = Math.min(bytes.length, from + 1 + below(random, 600));
    const touched = bytes.subarray(from, to).filter((byte) => byte === 0x0a).length + 1;
    bytes.fill(0, from, to);
    const recovered = recover(bytes);
    const left = idsIn(bytes, recovered);
    // A line that lost only its line feed is kept.
    expect(all.filter((id) => !left.includes(id)).length).toBeLessThanOrEqual(touched);
    expect(left.filter((id) => !all.includes(id))).toEqual([]);
    expect(recovered.problems).not.toEqual([]);
  }
});

test("any bytes can be read, and every entry is within the file", { timeout: patience(30) }, () => {
  const fragments = fc.constantFrom(
    '{"type":"',
    '"id":"00000001"',
    "}",
    "{",
    "\n",
    '","crc":"00000000"}',
    "\0",
    "\uFEFF",
    ",",
    "[",
    '\\"',
  );
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .array(fc.oneof(fragments, fc.string({ unit: "binary", maxLength: 4 })), { maxLength: 40 })
      .map((all) => Buffer.from(all.join(""))),
    fc.tuple(fc.nat(400), fc.nat(400), fc.uint8Array({ maxLength: 20 })).map(([from, to, middle]) => {
      const log = createLog(3);
      return Buffer.concat([log.subarray(0, from), middle, log.subarray(to)]);
    }),
  );
  const law = fc.property(bytes, (input) => {
    const { table, end } = recover(input);
    expect(end).toBeLessThanOrEqual(input.length);
    for (let row = 0; row < table.count; row++) {
      expect(table.offset(row) + table.length(row)).toBeLessThanOrEqual(input.length);
      expect(table.parent(row)).toBeLessThan(row);
    }
  });
  fc.assert(law, { numRuns: 5_000 * factor });
});
