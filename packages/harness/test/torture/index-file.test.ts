/** The index may be lost, damaged, old, or belong to another log: the session shows what is in the log. */
import { copyFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HarnessError } from "@tau/protocol";
import { encodeLine } from "../../src/session/line.ts";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import {
  below,
  entry,
  header,
  idsIn,
  isLong,
  createLog,
  patience,
  quickScratch,
  randomFrom,
  times,
  user,
} from "./kit.ts";

/** Long enough to have an index. */
const bytes = createLog(600);
const ids = idsIn(bytes, recover(bytes));
let index: Buffer;
let directory: string;

/** Writes a log and opens it once, so that it has an index. */
async function writeIndexed(name: string, content: Buffer): Promise<string> {
  const path = join(directory, `${name}.jsonl`);
  writeFileSync(path, content);
  await (await SessionManager.open(path)).close();
  expect(statSync(`${path}.idx`).size).toBeGreaterThan(10_000);
  return path;
}

/** Retries once after `overtaken`: the log was reloaded then. */
async function retry<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HarnessError) || error.code !== "overtaken") throw error;
    return await work();
  }
}

/** Compares the session with what the log holds without an index. */
async function check(path: string, access: "read" | "write" = "write"): Promise<void> {
  const now = readFileSync(path);
  const known = recover(now);
  const session = await SessionManager.open(path, { access });
  const shown = await retry(() => session.getEntries());
  expect(shown.map(({ id }) => id)).toEqual(idsIn(now, known));
  const texts = known.table
    .entryRows()
    .map((row) => now.toString("utf8", known.table.offset(row), known.table.offset(row) + known.table.length(row)));
  const expected = texts.map((text) => ({ ...(JSON.parse(text) as object), crc: undefined }));
  expect(shown.map((shownEntry) => ({ ...shownEntry, crc: undefined }))).toEqual(expected);
  expect(session.id).toBe("torture");
  expect(session.problems.map(({ kind, line }) => [kind, line])).toEqual(
    known.problems.map(({ kind, line }) => [kind, line]),
  );
  expect((await session.getBranch()).length).toBeGreaterThan(0);
  await session.buildContext();
  await session.close();
}

/** The lines before the columns. */
const getHeadLength = () => index.indexOf("\n", 9) + 1;

const setUp = async () => {
  directory = quickScratch();
  const path = await writeIndexed("2026-01-01T00-00-00-000Z_torture", bytes);
  index = readFileSync(`${path}.idx`);
  return path;
};

test("a valid index is used, and one that is missing, empty, cut off or invalid is written again", async () => {
  const path = await setUp();
  const idx = `${path}.idx`;
  await check(path);
  for (const damage of [
    () => rmSync(idx),
    () => writeFileSync(idx, ""),
    () => truncateSync(idx, index.length - 1),
    () => truncateSync(idx, 100),
    () => writeFileSync(idx, Buffer.concat([index, Buffer.from("x")])),
    () => writeFileSync(idx, Buffer.alloc(index.length)),
    () => truncateSync(idx, 3 * 1024 ** 3),
    () => writeFileSync(idx, "tau session index 9\n{}"),
  ]) {
    damage();
    await check(path, "read");
    await check(path);
    expect(readFileSync(idx).equals(index)).toBe(true);
  }
});

test("the session is the same, whatever bytes of the index are changed", { timeout: patience(60) }, async () => {
  const path = await setUp();
  const edits = fc.array(fc.tuple(fc.nat(1_000_000), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 5 });
  const law = fc.asyncProperty(edits, fc.boolean(), async (changes, isInHead) => {
    const copy = Buffer.from(index);
    for (const [position, change] of changes) copy[position % (isInHead ? getHeadLength() : copy.length)]! ^= change;
    writeFileSync(`${path}.idx`, copy);
    const session = await SessionManager.open(path, { access: "read" });
    expect((await session.getEntries()).map(({ id }) => id)).toEqual(ids);
    expect(session.id).toBe("torture");
    expect(session.problems).toEqual([]);
    await session.close();
  });
  await fc.assert(law, { numRuns: times(250, 80) });
});

test("every bit of the first lines of an index is verified", { timeout: patience(60) }, async () => {
  const path = await setUp();
  for (let position = 0; position < getHeadLength(); position += isLong ? 1 : 3) {
    const copy = Buffer.from(index);
    copy[position]! ^= 1 << (position % 8);
    writeFileSync(`${path}.idx`, copy);
    const session = await SessionManager.open(path, { access: "read" });
    expect(session.getEntryCount()).toBe(ids.length);
    expect(session.getLeafId()).toBe(ids.at(-1));
    await session.close();
  }
});

test("the index of another session is not used", async () => {
  const path = await setUp();
  const others = Buffer.concat(
    [
      header(),
      ...Array.from({ length: 600 }, (_unused, position) =>
        entry(position + 1_000, position === 0 ? 0 : position + 999),
      ),
    ].map(encodeLine),
  );
  const otherPath = await writeIndexed("2026-01-01T00-00-00-000Z_other", others);
  copyFileSync(`${otherPath}.idx`, `${path}.idx`);
  await check(path);
  // The same if two logs are exchanged.
  await (await SessionManager.open(path)).close();
  renameSync(path, `${path}.x`);
  renameSync(otherPath, path);
  renameSync(`${path}.x`, otherPath);
  await check(path);
  await check(otherPath);
});

test(
  "a log that grew, shrank or was replaced after its index was written is read as it is",
  { timeout: patience(30) },
  async () => {
    const random = randomFrom();
    const longer = Buffer.concat([bytes, encodeLine(entry(601)), encodeLine(entry(602))]);
    const reversed = Buffer.concat(
      [header(), ...Array.from({ length: 600 }, (_unused, position) => entry(600 - position, 600 - position - 1))].map(
        encodeLine,
      ),
    );
    expect(reversed.length).toBe(bytes.length);
    const otherTail = Buffer.from(bytes);
    otherTail.write("M", otherTail.length - 60);
    const changes: [string, (path: string) => void][] = [
      ["longer", (path) => writeFileSync(path, longer)],
      ["longer and torn", (path) => writeFileSync(path, longer.subarray(0, -7))],
      ["shorter", (path) => truncateSync(path, bytes.length - 5_000)],
      ["shorter by a byte", (path) => truncateSync(path, bytes.length - 1)],
      ["much shorter", (path) => truncateSync(path, 400)],
      [
        "replaced by another of the same size",
        (path) => {
          writeFileSync(`${path}.new`, reversed);
          renameSync(`${path}.new`, path);
        },
      ],
      [
        "the same bytes in another file",
        (path) => {
          writeFileSync(`${path}.new`, bytes);
          renameSync(`${path}.new`, path);
        },
      ],
      ["overwritten with the same size", (path) => writeFileSync(path, reversed)],
      ["another end", (path) => writeFileSync(path, otherTail)],
      [
        "shorter, then longer",
        (path) => {
          truncateSync(path, bytes.length - 3_000);
          writeFileSync(path, longer.subarray(bytes.length), { flag: "a" });
        },
      ],
    ];
    for (const [name, change] of changes) {
      const path = await setUp();
      change(path);
      await check(path, "read").catch((error: unknown) => {
        throw new Error(name, { cause: error });
      });
      await check(path).catch((error: unknown) => {
        throw new Error(name, { cause: error });
      });
      await check(path);
    }
    // In the middle, which the index does not verify: a damaged byte, or lines of other lengths.
    for (let run = 0; run < times(40, 12); run++) {
      const path = await setUp();
      const changed = Buffer.from(bytes);
      const position = run === 0 ? 10 : below(random, bytes.length - 8_192);
      if (run % 2 === 0) changed[position]! ^= 1 << below(random, 8);
      else changed.fill("x", position, position + 700);
      writeFileSync(path, changed);
      await check(path);
      await check(path);
    }
  },
);

/** Exchanges the third and the fourth line. */
function swapped(): Buffer {
  const lines = bytes.toString().split("\n");
  [lines[2], lines[3]] = [lines[3]!, lines[2]!];
  return Buffer.from(lines.join("\n"));
}

test("lines that were exchanged after the index was written are read as they are", async () => {
  const path = await setUp();
  writeFileSync(path, swapped());
  await check(path);
});

test("an index does not match another file with the same end", async () => {
  const path = await setUp();
  writeFileSync(`${path}.new`, swapped());
  renameSync(`${path}.new`, path);
  const session = await SessionManager.open(path);
  // Without `overtaken`, because the index is not used.
  expect((await session.getEntries()).slice(1, 3).map(({ id }) => id)).toEqual([ids[2], ids[1]]);
  await session.close();
});

test("a session that grew after its index was written opens with all entries and a new index", async () => {
  const path = await setUp();
  const session = await SessionManager.open(path);
  const fresh = [];
  for (let position = 0; position < 20; position++)
    fresh.push(await session.appendMessage(user("x".repeat(position * 500))));
  await session.close();
  expect(readFileSync(`${path}.idx`).equals(index)).toBe(false);
  await check(path);
  const again = await SessionManager.open(path);
  expect((await again.getEntries()).map(({ id }) => id)).toEqual([...ids, ...fresh]);
  await again.close();
});
