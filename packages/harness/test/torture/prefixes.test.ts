/** Any prefix of a session file opens with its complete entries. See `kit.ts` for longer runs. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeLine } from "../../src/session/line.ts";
import { recover, Recovery } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import {
  below,
  entry,
  header,
  hexId,
  idsIn,
  createLog,
  isLong,
  patience,
  plainLine,
  quickScratch,
  randomFrom,
  seed,
  sessionIds,
  times,
  user,
} from "./kit.ts";

/** The shortest possible entry, because every prefix is read from its beginning. */
const shortest = (number: number) => ({
  type: "x",
  id: number.toString(36),
  parentId: number === 1 ? null : (number - 1).toString(36),
});
/** The shortest possible entry of ours. */
const short = (number: number) => ({
  type: "x",
  id: hexId(number),
  parentId: number === 1 ? null : hexId(number - 1),
  timestamp: "",
});

/** Where each line ends, without its line feed. */
const getEnds = (bytes: Buffer) => [...bytes.entries()].filter(([, byte]) => byte === 0x0a).map(([index]) => index);

/**
 * The lengths at which a log is cut off: every one in a long run. Otherwise every one within the first lines, and of each
 * line after them the end, with or without its line feed, and one random place.
 */
function getCuts(total: number, ends: readonly number[], exhaustiveLines: number): number[] {
  const all = isLong ? total : ends[exhaustiveLines]!;
  const cuts = Array.from({ length: all + 1 }, (_unused, length) => length);
  if (isLong) return cuts;
  const random = randomFrom();
  for (const [index, end] of ends.entries()) {
    if (end <= all) continue;
    const start = ends[index - 1]! + 2;
    cuts.push(start + below(random, end - start), end + below(random, 2));
  }
  return cuts;
}

for (const [name, count, exhaustiveLines, make, encode] of [
  ["without checksums", 500, 80, shortest, plainLine],
  ["with checksums", Math.min(1_000, times(200)), 40, short, encodeLine],
] as const) {
  test(
    `byte prefixes of ${count} entries ${name} give all complete entries, and report the torn rest`,
    { timeout: patience(90) },
    () => {
      const entries = Array.from({ length: count }, (_unused, index) => make(index + 1));
      const bytes = Buffer.concat([header("x"), ...entries].map(encode));
      const allEnds = getEnds(bytes);
      const [headerEnd = 0, ...ends] = allEnds;
      const cuts = getCuts(bytes.length, allEnds, exhaustiveLines);
      let complete = 0;
      for (const [cut, length] of cuts.entries()) {
        while (ends[complete]! <= length) complete++;
        const prefix = bytes.subarray(0, length);
        const recovered = recover(prefix);
        const { table, problems, end } = recovered;
        const lastEnd = complete > 0 ? ends[complete - 1]! : length >= headerEnd ? headerEnd : -1;
        // A missing line feed is not a loss.
        const isTorn = length > lastEnd + 1;
        const expected = [complete, Number(isTorn), length >= headerEnd, isTorn ? lastEnd + 1 : length];
        const actual = [table.count, problems.length, recovered.header !== undefined, end];
        if (actual.join() !== expected.join()) expect.fail(`${length} bytes: ${actual.join()} for ${expected.join()}`);
        const [torn] = problems;
        const line = complete + (lastEnd < 0 ? 1 : 2);
        if (torn && (torn.kind !== "torn" || torn.offset !== end || torn.line !== line))
          expect.fail(`${length} bytes: ${JSON.stringify(torn)}`);
        if (cut % 97 === 0) expect(idsIn(prefix, recovered)).toEqual(entries.slice(0, complete).map(({ id }) => id));
      }
      console.log(
        `${cuts.length} prefixes of ${count} entries ${name} (seed ${seed}): all complete entries were found`,
      );
    },
  );
}

test("a log in chunks of any size gives the same as in one chunk", () => {
  const random = randomFrom();
  const whole = Buffer.concat([
    createLog(20),
    Buffer.from("\r\n\n\0\0\n"),
    encodeLine(entry(21)),
    Buffer.from("{torn"),
  ]);
  const expected = recover(whole);
  for (let run = 0; run < times(200); run++) {
    const recovery = new Recovery();
    for (let index = 0; index < whole.length;) {
      const size = 1 + below(random, run % 2 === 0 ? 7 : 400);
      recovery.push(whole.subarray(index, index + size));
      index += size;
    }
    const recovered = recovery.end();
    expect(Buffer.concat(recovered.table.encode()).equals(Buffer.concat(expected.table.encode()))).toBe(true);
    expect({ ...recovered, table: 0 }).toEqual({ ...expected, table: 0 });
  }
});

test(
  "a session whose file ends anywhere opens, sets the torn tail aside, and can be appended to",
  { timeout: patience(60) },
  async () => {
    const bytes = createLog(30);
    const random = randomFrom();
    const ids = recover(bytes).table.count === 30 ? idsIn(bytes, recover(bytes)) : [];
    const ends = getEnds(bytes);
    const root = quickScratch();
    let cut = 0;
    for (let run = 0; run < times(2_000, 300); run++) {
      const length = run < ends.length ? ends[run]! + (run % 2) : 1 + below(random, bytes.length);
      const directory = join(root, String(run));
      mkdirSync(directory);
      const path = join(directory, "2026-01-01T00-00-00-000Z_torture.jsonl");
      writeFileSync(path, bytes.subarray(0, length));
      const session = await SessionManager.open(path);
      const complete = ends.slice(1).filter((end) => end <= length).length;
      const [torn] = session.problems;
      const good = torn?.offset ?? length;
      expect(await sessionIds(session)).toEqual(ids.slice(0, complete));
      const fresh = await session.appendMessage(user("after"));
      await session.close();
      const after = readFileSync(path);
      expect(after.subarray(0, good).equals(bytes.subarray(0, good)), `the good part of ${length}`).toBe(true);
      const asides = readdirSync(directory).filter((name) => name.includes(".torn-"));
      expect(asides).toHaveLength(torn ? 1 : 0);
      if (torn) {
        cut++;
        expect(torn).toMatchObject({ kind: "torn", message: expect.stringContaining(asides[0]!) });
        expect(readFileSync(join(directory, asides[0]!)).equals(bytes.subarray(good, length))).toBe(true);
      }
      const reread = recover(after);
      expect(reread.problems).toEqual([]);
      expect(idsIn(after, reread)).toEqual([...ids.slice(0, complete), fresh]);
      expect(after.toString().match(/"type":"session"/g)).toHaveLength(1);
      rmSync(directory, { recursive: true });
    }
    console.log(`${times(2_000, 300)} files cut off anywhere (seed ${seed}): ${cut} torn tails set aside`);
  },
);
