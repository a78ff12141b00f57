/** The index beside a log may be lost, damaged, old or another's: what is shown is what the log says. */
import { copyFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HarnessError } from "../../src/errors.ts";
import { encodeLine } from "../../src/session/line.ts";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { below, entry, header, idsIn, createLog, patience, quickScratch, randomFrom, times, user } from "./kit.ts";

/** Long enough to have an index. */
const bytes = createLog(600);
const ids = idsIn(bytes, recover(bytes));
let index: Buffer;
let directory: string;

/** A file with these bytes, and the index that the first opening makes for them. */
async function indexed(name: string, content: Buffer): Promise<string> {
  const path = join(directory, `${name}.jsonl`);
  writeFileSync(path, content);
  await (await SessionManager.open(path)).close();
  expect(statSync(`${path}.idx`).size).toBeGreaterThan(10_000);
  return path;
}

/** Who finds a log changed under an index reads it anew; then it can be read. */
async function twice<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HarnessError) || error.code !== "overtaken") throw error;
    return await work();
  }
}

/** Opens it and compares all it shows with what the log says without an index. */
async function check(path: string, access: "read" | "write" = "write"): Promise<void> {
  const now = readFileSync(path);
  const known = recover(now);
  const session = await SessionManager.open(path, { access });
  const shown = await twice(() => session.getEntries());
  expect(shown.map(({ id }) => id)).toEqual(idsIn(now, known));
  const texts = known.table
    .entryRows()
    .map((row) => now.toString("utf8", known.table.offset(row), known.table.offset(row) + known.table.length(row)));
  const said = texts.map((text) => ({ ...(JSON.parse(text) as object), crc: undefined }));
  expect(shown.map((one) => ({ ...one, crc: undefined }))).toEqual(said);
  expect(session.id).toBe("torture");
  expect(session.problems.map(({ kind, line }) => [kind, line])).toEqual(
    known.problems.map(({ kind, line }) => [kind, line]),
  );
  expect((await session.getBranch()).length).toBeGreaterThan(0);
  await session.buildContext();
  await session.close();
}

const setUp = async () => {
  directory = quickScratch();
  const path = await indexed("2026-01-01T00-00-00-000Z_torture", bytes);
  index = readFileSync(`${path}.idx`);
  return path;
};

test("an index that is there is used, and one that is missing, empty, cut off or rubbish is made again", async () => {
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

test("whatever bytes of an index are changed, the session is the same", { timeout: patience(60) }, async () => {
  const path = await setUp();
  const edits = fc.array(fc.tuple(fc.nat(1_000_000), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 5 });
  const law = fc.asyncProperty(edits, fc.boolean(), async (changes, isInHead) => {
    const copy = Buffer.from(index);
    for (const [at, change] of changes) copy[at % (isInHead ? 250 : copy.length)]! ^= change;
    writeFileSync(`${path}.idx`, copy);
    const session = await SessionManager.open(path, { access: "read" });
    expect((await session.getEntries()).map(({ id }) => id)).toEqual(ids);
    expect(session.id).toBe("torture");
    expect(session.problems).toEqual([]);
    await session.close();
  });
  await fc.assert(law, { numRuns: times(250) });
});

test("every bit of an index's first lines is guarded", { timeout: patience(60) }, async () => {
  const path = await setUp();
  for (let at = 0; at < 250; at++) {
    const copy = Buffer.from(index);
    copy[at]! ^= 1 << (at % 8);
    writeFileSync(`${path}.idx`, copy);
    const session = await SessionManager.open(path, { access: "read" });
    expect(session.getEntryCount()).toBe(ids.length);
    expect(session.getLeafId()).toBe(ids.at(-1));
    await session.close();
  }
});

test("the index of another session is not taken for one's own", async () => {
  const path = await setUp();
  const others = Buffer.concat(
    [header(), ...Array.from({ length: 600 }, (_unused, at) => entry(at + 1_000, at === 0 ? 0 : at + 999))].map(
      encodeLine,
    ),
  );
  const other = await indexed("2026-01-01T00-00-00-000Z_other", others);
  copyFileSync(`${other}.idx`, `${path}.idx`);
  await check(path);
  // And when the files changed places under their indexes.
  await (await SessionManager.open(path)).close();
  renameSync(path, `${path}.x`);
  renameSync(other, path);
  renameSync(`${path}.x`, other);
  await check(path);
  await check(other);
});

test(
  "a log that grew, shrank or was replaced under its index is read as it is",
  { timeout: patience(30) },
  async () => {
    const random = randomFrom();
    const longer = Buffer.concat([bytes, encodeLine(entry(601)), encodeLine(entry(602))]);
    const reversed = Buffer.concat(
      [header(), ...Array.from({ length: 600 }, (_unused, at) => entry(600 - at, 600 - at - 1))].map(encodeLine),
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
        "another of the same size in its place",
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
    // In the middle, where no proof of an index reaches: a damaged byte, or lines of other lengths.
    for (let run = 0; run < times(40); run++) {
      const path = await setUp();
      const changed = Buffer.from(bytes);
      const at = run === 0 ? 10 : below(random, bytes.length - 8_192);
      if (run % 2 === 0) changed[at]! ^= 1 << below(random, 8);
      else changed.fill("x", at, at + 700);
      writeFileSync(path, changed);
      await check(path);
      await check(path);
    }
  },
);

/** The third line and the fourth in each other's place. */
function swapped(): Buffer {
  const lines = bytes.toString().split("\n");
  [lines[2], lines[3]] = [lines[3]!, lines[2]!];
  return Buffer.from(lines.join("\n"));
}

test("lines that changed places under an index are read as what they are", async () => {
  const path = await setUp();
  writeFileSync(path, swapped());
  await check(path);
});

test("an index does not fit another file, be its end the same", async () => {
  const path = await setUp();
  writeFileSync(`${path}.new`, swapped());
  renameSync(`${path}.new`, path);
  const session = await SessionManager.open(path);
  // At once, without having to be found out.
  expect((await session.getEntries()).slice(1, 3).map(({ id }) => id)).toEqual([ids[2], ids[1]]);
  await session.close();
});

test("a session that goes on after its index opens with both, and the index catches up", async () => {
  const path = await setUp();
  const session = await SessionManager.open(path);
  const fresh = [];
  for (let at = 0; at < 20; at++) fresh.push(await session.appendMessage(user("x".repeat(at * 500))));
  await session.close();
  expect(readFileSync(`${path}.idx`).equals(index)).toBe(false);
  await check(path);
  const again = await SessionManager.open(path);
  expect((await again.getEntries()).map(({ id }) => id)).toEqual([...ids, ...fresh]);
  await again.close();
});
