/** Tests that a flipped bit costs at most one entry, and is reported. See `kit.ts` for longer runs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idNumber } from "../../src/session/entry-table.ts";
import { encodeLine } from "../../src/session/line.ts";
import { recover, type Recovered } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import {
  below,
  entry,
  header,
  patience,
  plainLine,
  quickScratch,
  randomFrom,
  seed,
  sessionIds,
  times,
  user,
} from "./kit.ts";

/** A tree: the parent is not always the entry before. */
const parents = Array.from({ length: 50 }, (_unused, index) => (index % 7 === 6 ? Math.max(0, index - 5) : index));
const entries = parents.map((parent, index) =>
  entry(index + 1, parent, index % 5 === 0 ? 'it {"type":"x"}{"type":"y" said' : "é"),
);
const parentIds = new Map(entries.map(({ id, parentId }) => [id, parentId]));
/** Parents by the numbers of the table. */
const parentNumbers = new Map(
  entries.map(({ id, parentId }) => [idNumber(id), parentId === null ? -1 : idNumber(parentId)]),
);

interface Sample {
  bytes: Buffer;
  /** Where each line begins. */
  starts: number[];
}

function createSample(encode: (value: object) => Buffer): Sample {
  const lines = [header(), ...entries].map(encode);
  const starts = lines.map((_line, index) => lines.slice(0, index).reduce((sum, { length }) => sum + length, 0));
  return { bytes: Buffer.concat(lines), starts };
}

const flipBit = ({ bytes }: Sample, index: number, bit: number) => {
  const copy = Buffer.from(bytes);
  copy[index]! ^= 1 << bit;
  return copy;
};

/** Counted from 1. */
const getLine = ({ starts }: Sample, index: number) => starts.findLastIndex((start) => start <= index) + 1;

interface Flip {
  index: number;
  bit: number;
  hasChecksums: boolean;
}

/** Undefined if the recovered log is as expected. */
function findError(sample: Sample, recovered: Recovered, { index, bit, hasChecksums }: Flip): string | undefined {
  const { table, problems } = recovered;
  const line = getLine(sample, index);
  const rows = new Map(table.entryRows().map((row) => [table.id(row), row]));
  const lost = [...parentNumbers.keys()].filter((id) => !rows.has(id));
  if (lost.length > 1) return `lost ${lost.join()}`;
  // Two lines that became one, or one that became two, may be reported at the second.
  const byte = sample.bytes[index]!;
  const last = byte === 0x0a || (byte ^ (1 << bit)) === 0x0a ? line + 1 : line;
  const isReported = problems.some((problem) => problem.line === line || problem.line === last);
  const mustBeReported = hasChecksums || (lost.length > 0 && rows.size < entries.length);
  if (mustBeReported && !isReported) return `line ${line} is not reported: ${JSON.stringify(problems)}`;
  if (!recovered.header && !problems.some(({ kind }) => kind === "no_header")) return "the lost header is not reported";
  for (const [id, row] of rows) {
    const wanted = parentNumbers.get(id);
    const parentRow = table.findReadable(table.parent(row));
    const parent = parentRow < 0 ? -1 : table.id(parentRow);
    if (wanted === undefined || parent === wanted) continue;
    const isMarked = table.isReattached(row) && problems.some(({ kind }) => kind === "reattached");
    if (!isMarked) return `${id} hangs on ${parent} without a mark`;
    // An entry whose parent is lost is attached to the parent of that, if it is known.
    const isParentReadable = !/"parentId"|null/.test(sample.bytes.toString("latin1", index - 24, index + 12));
    if (hasChecksums && wanted === lost[0] && isParentReadable && parent !== parentNumbers.get(wanted))
      return `${id} hangs on ${parent}, not on ${parentNumbers.get(wanted)}`;
  }
  return undefined;
}

for (const [name, encode, hasChecksums] of [
  ["with checksums", encodeLine, true],
  ["without checksums", plainLine, false],
] as const) {
  test(
    `one flipped bit in a log ${name} costs at most one entry, and is reported with its line`,
    { timeout: patience(60) },
    () => {
      const sample = createSample(encode);
      const random = randomFrom();
      const lineFeeds = [...sample.bytes.entries()].filter(([, byte]) => byte === 0x0a).map(([index]) => index);
      // Every bit of every line feed and of the header, and of an entry with children.
      const chosen = [...lineFeeds, ...range(0, sample.starts[1]!), ...range(sample.starts[10]!, sample.starts[11]!)];
      const positions = chosen.flatMap((index) => range(0, 8).map((bit) => [index, bit] as const));
      const count = times(10_000, 3_000);
      while (positions.length < count) positions.push([below(random, sample.bytes.length), below(random, 8)]);
      let noticed = 0;
      for (const [index, bit] of positions) {
        const recovered = recover(flipBit(sample, index, bit));
        if (recovered.problems.length > 0) noticed++;
        const error = findError(sample, recovered, { index, bit, hasChecksums });
        if (error) expect.fail(`bit ${bit} of byte ${index} (seed ${seed}): ${error}`);
      }
      const reported = hasChecksums
        ? "all of them reported"
        : `${noticed} of them reported (the others are still valid JSON)`;
      console.log(`${positions.length} flipped bits ${name} (seed ${seed}): at most one entry lost each, ${reported}`);
    },
  );
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_unused, index) => from + index);

test("every flipped bit of a short log with checksums is reported", { timeout: patience(30) }, () => {
  const bytes = Buffer.concat([header(), entry(1), entry(2)].map(encodeLine));
  for (let index = 0; index < bytes.length; index++) {
    for (let bit = 0; bit < 8; bit++) {
      const copy = Buffer.from(bytes);
      copy[index]! ^= 1 << bit;
      if (recover(copy).problems.length === 0) expect.fail(`bit ${bit} of byte ${index} is not reported`);
    }
  }
});

test(
  "a session with a flipped bit opens, shows the other entries, and can be appended to",
  { timeout: patience(60) },
  async () => {
    const random = randomFrom(seed + 1);
    const directory = quickScratch();
    for (let run = 0; run < times(400, 120); run++) {
      const sample = createSample(run % 2 === 0 ? encodeLine : plainLine);
      const index = run < 100 ? run : below(random, sample.bytes.length);
      const bytes = flipBit(sample, index, below(random, 8));
      const path = join(directory, `${run}.jsonl`);
      writeFileSync(path, bytes);
      const session = await SessionManager.open(path);
      const before = await sessionIds(session);
      expect(before.filter((id) => parentIds.has(id)).length).toBeGreaterThanOrEqual(entries.length - 1);
      await session.getTree();
      await session.buildContext();
      const fresh = await session.appendMessage(user("after"));
      await session.close();
      const again = await SessionManager.open(path);
      expect(await sessionIds(again)).toEqual([...before, fresh]);
      await again.close();
    }
  },
);
