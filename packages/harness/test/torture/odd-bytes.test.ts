/** What nobody should write and somebody will: values that JSON cannot say, and files that no writer of ours left. */
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

/** The line of an entry with this content, parsed again, after all that must hold of a line was checked. */
function written(data: unknown): { data?: unknown } {
  const line = encodeLine({ type: "custom", id: hexId(1), parentId: null, timestamp: "", customType: "x", data });
  expect(line.indexOf(0x0a)).toBe(line.length - 1);
  expect(readChecksum(line.subarray(0, -1))).toBe("right");
  const value = JSON.parse(line.toString()) as { id: string; data?: unknown };
  expect(value.id).toBe(hexId(1));
  return value;
}

const nested = (depth: number) => {
  let value: unknown = 1;
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { value };
  return value;
};

const circle: Record<string, unknown> = { name: "circle", big: 1n };
circle["self"] = circle;
circle["again"] = [circle, circle];

/** Everybody knows everybody: there are more paths through it than atoms. */
const web = Array.from({ length: 40 }, () => ({}) as Record<string, unknown>);
for (const one of web) for (const [at, other] of web.entries()) one[at] = other;

const throwing = () => {
  throw new Error("I will not be written");
};

const odd: [string, unknown, unknown][] = [
  ["a circle", circle, { name: "circle", big: "1", self: expect.stringContaining("left out") }],
  ["a web of circles", web, expect.anything()],
  ["a BigInt", { big: 2n ** 70n, date: new Date(0) }, { big: String(2n ** 70n), date: "1970-01-01T00:00:00.000Z" }],
  [
    "a toJSON that throws",
    { bad: { toJSON: throwing }, good: 1 },
    { bad: expect.stringContaining("I will not"), good: 1 },
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
  ["nothing", undefined, undefined],
  ["a symbol and a function", { symbol: Symbol("x"), function: throwing }, {}],
  ["lone surrogates and line separators", "\ud800x\udfff\u2028\u2029\0\n\r", "\ud800x\udfff\u2028\u2029\0\n\r"],
  ["numbers that are none", [Number.NaN, -0, Number.POSITIVE_INFINITY], [null, 0, null]],
  ["what looks like an entry", '}{"type":"x"}\n{"type":"y"}', '}{"type":"x"}\n{"type":"y"}'],
];

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("a line can be made of", () => {
  test.each(odd)("%s", (_name, data, expected) => {
    const value = written(data);
    if (expected === undefined) expect(value.data).toBeUndefined();
    else if (typeof expected === "object" && !Array.isArray(expected))
      expect(value.data).toMatchObject(expected as object);
    else expect(value.data).toEqual(expected);
  });

  test("a web of circles without it becoming a flood", () => {
    const line = encodeLine({ ...entry(1), web });
    expect(line.length).toBeLessThan(16 * 1024 * 1024);
  });

  test("JSON of any depth", () => {
    for (const depth of [64, 1_000, 5_000, 10_000, 100_000]) written(nested(depth));
  });

  test("anything at all", () => {
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
      fc.property(anything, (data) => void written(data)),
      { numRuns: times(2_000) },
    );
  });

  test("an entry that would not be written, or would be written as something else", () => {
    for (const toJSON of [throwing, () => undefined, () => "a text", () => 1n]) {
      const line = encodeLine({ ...entry(1), toJSON });
      expect(readChecksum(line.subarray(0, -1))).toBe("right");
      expect(JSON.parse(line.toString())).toMatchObject(entry(1));
    }
  });

  test("an entry that came from another line, with one checksum and not two", () => {
    const first = JSON.parse(encodeLine(entry(1)).toString()) as object;
    const line = encodeLine(first);
    expect(line.equals(encodeLine(entry(1)))).toBe(true);
  });
});

test("an append does not throw, whatever it is given, and the file is valid", { timeout: patience(30) }, async () => {
  const session = await SessionManager.create("/project", quickScratch());
  const ids = [];
  for (const data of [...odd.map(([, value]) => value), nested(10_000)])
    ids.push(await session.appendCustomEntry("x", data));
  await session.close();
  const bytes = readFileSync(session.getSessionFile()!);
  expect(recover(bytes).problems).toEqual([]);
  expect(idsIn(bytes, recover(bytes))).toEqual(ids);
});

test(
  "whatever text is appended is the text that is read, by this process and the next",
  { timeout: patience(30) },
  async () => {
    const directory = quickScratch();
    const texts = fc.array(
      fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.constant("\ud83d")),
      { maxLength: 8 },
    );
    const law = fc.asyncProperty(texts, async (given) => {
      const session = await SessionManager.create("/project", directory);
      for (const text of given) await session.appendMessage(user(text));
      const live = await session.getEntries();
      await session.close();
      if (given.length === 0) return;
      const again = await SessionManager.open(session.getSessionFile()!);
      expect(again.problems).toEqual([]);
      const read = await again.getEntries();
      expect(read).toEqual(live);
      expect(read.map((one) => one.type === "message" && one.message.role === "user" && one.message.content)).toEqual(
        given,
      );
      await again.close();
    });
    await fc.assert(law, { numRuns: times(100) });
  },
);

test("when the clock jumps ten years, order is that of the file and ids are unique", async () => {
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

describe("a file of others", () => {
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
    ["with bytes that are no UTF-8", [`${first}\n`, broken, `\n${third}\n${fourth}\n`], { kinds: ["invalid_utf8"] }],
    ["whose last line feed became another byte", [`${lines.join("\n")}J`], { kinds: ["torn"] }],
    ["with zeros behind its end", [lines.join("\n"), "\n", zeros(4096)], { kinds: ["torn"] }],
    ["with zeros behind an open end", [lines.join("\n"), zeros(4096)], { kinds: ["torn"] }],
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
      "with a torn line that another writer went on",
      [`${first}\n${second}\n${third.slice(0, 30)}${third}\n${fourth}\n`],
      { kinds: ["damaged", "fused"] },
    ],
    [
      "with a line that is no entry",
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
      "with a line whose parent was never there",
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
    "%s opens, says what is wrong, is not changed, and goes on",
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

  test("that has only a header goes on with that one", async () => {
    const path = join(quickScratch(), "2026-01-01T00-00-00-000Z_odd.jsonl");
    writeFileSync(path, `${first}\n`);
    const session = await SessionManager.open(path);
    await session.appendMessage(user("a"));
    await session.close();
    expect(readFileSync(path, "utf8").match(/"type":"session"/g)).toHaveLength(1);
    expect(session.id).toBe("torture");
  });

  test("that is empty, as a crash may leave it, can be written", async () => {
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

  test("that is a link is not begun", async () => {
    const directory = quickScratch();
    const session = await SessionManager.create("/project", directory);
    symlinkSync(join(directory, "elsewhere"), session.getSessionFile()!);
    await expect(session.appendMessage(user("a"))).rejects.toMatchObject({ code: "write_failed" });
  });
});

test("a block of zeros anywhere costs the lines it touches, and is reported", { timeout: patience(30) }, () => {
  const random = randomFrom();
  for (let run = 0; run < times(1_000); run++) {
    const bytes = createLog(20, run % 2 === 0 ? encodeLine : plainLine);
    const all = idsIn(bytes, recover(bytes));
    const from = below(random, bytes.length);
    const to = Math.min(bytes.length, from + 1 + below(random, 600));
    const touched = bytes.subarray(from, to).filter((byte) => byte === 0x0a).length + 1;
    bytes.fill(0, from, to);
    const found = recover(bytes);
    const left = idsIn(bytes, found);
    // A line that only lost its line feed is not lost.
    expect(all.filter((id) => !left.includes(id)).length).toBeLessThanOrEqual(touched);
    expect(left.filter((id) => !all.includes(id))).toEqual([]);
    expect(found.problems).not.toEqual([]);
  }
});

test(
  "whatever bytes a file has, it is read, and never with an entry that has no place",
  { timeout: patience(30) },
  () => {
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
    const law = fc.property(bytes, (given) => {
      const { table, end } = recover(given);
      expect(end).toBeLessThanOrEqual(given.length);
      for (let row = 0; row < table.count; row++) {
        expect(table.offset(row) + table.length(row)).toBeLessThanOrEqual(given.length);
        expect(table.parent(row)).toBeLessThan(row);
      }
    });
    fc.assert(law, { numRuns: 5_000 * factor });
  },
);
