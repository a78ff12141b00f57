import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { encodeLine } from "@tau/harness/session";
import { createCrashFileSystem } from "@tau/harness/testing";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { createRecordFiles } from "@tau/tools/storage";
import { withEveryFault } from "@tau/tools/testing";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { Journal } from "./journal.ts";
import { parseRecords } from "./parse-records.ts";

/** The state is the last value of each name; a name without a value is forgotten. */
interface Entry {
  name: string;
  value?: number;
}

async function open(path: string, { maxBytes = 1_000, fileSystem = nodeFileSystem as FileSystem } = {}) {
  const state = new Map<string, number>();
  const logged: string[] = [];
  const journal = await Journal.open<Entry>({
    storage: createRecordFiles({ agentDir: dirname(dirname(path)), fileSystem }),
    key: "gateway/test",
    log: (line) => void logged.push(line),
    maxBytes,
    take: ({ name, value }) => void (value === undefined ? state.delete(name) : state.set(name, value)),
    snapshot: () => [...state].map(([name, value]) => ({ name, value })),
  });
  return { journal, state, logged };
}

/** In memory if possible: the tests sync thousands of times. */
function scratch(): string {
  const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const directory = mkdtempSync(join(parent, "tau-journal-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "gateway", "test.jsonl");
}

test("what was appended is there when the journal is opened again, and only its user can read it", async () => {
  const path = scratch();
  const first = await open(path);
  await Promise.all([1, 2, 3].map((value) => first.journal.append({ name: `n${value}`, value })));
  await first.journal.append({ name: "n2" });
  await first.journal.close();
  const second = await open(path);
  expect([...second.state]).toEqual([...first.state]);
  expect([...second.state.keys()]).toEqual(["n1", "n3"]);
  expect([statSync(path).mode & 0o777, statSync(join(path, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
  await second.journal.close();
});

test("a second gateway is refused while the first one lives", async () => {
  const path = scratch();
  const first = await open(path);
  await first.journal.append({ name: "a", value: 1 });
  await expect(open(path)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("another part of this program") as string,
  });
  await first.journal.close();
  await (await open(path)).journal.close();
});

test("a journal that grows is written again with what still matters, and stays small", async () => {
  const path = scratch();
  const { journal, state } = await open(path);
  for (let value = 0; value < 500; value++) await journal.append({ name: `n${value % 3}`, value });
  expect(statSync(path).size).toBeLessThan(2_000);
  await journal.close();
  const again = await open(path);
  expect(again.state).toEqual(state);
  await again.journal.close();
});

test("any prefix of a journal opens with the records that are whole in it, and goes on", async () => {
  const lines = Array.from({ length: 6 }, (_, value) => encodeLine({ name: `ü${value}`, value }));
  const bytes = Buffer.concat(lines);
  const path = scratch();
  await (await open(path)).journal.close();
  for (let length = 0; length <= bytes.length; length++) {
    const { records, end } = parseRecords(bytes.subarray(0, length));
    let whole = 0;
    for (let size = 0; whole < lines.length && size + lines[whole]!.length <= length; whole++)
      size += lines[whole]!.length;
    expect([records.length, end]).toEqual([whole, lines.slice(0, whole).reduce((sum, line) => sum + line.length, 0)]);
    if (length % 17 !== 0) continue;
    rmSync(join(path, ".."), { recursive: true, force: true });
    const { journal } = await open(path);
    await journal.append({ name: "x", value: 0 });
    await journal.close();
    writeFileSync(path, bytes.subarray(0, length));
    const cut = await open(path);
    expect(cut.state.size).toBe(whole);
    await cut.journal.append({ name: "next", value: 1 });
    await cut.journal.close();
    expect(parseRecords(readFileSync(path)).records).toHaveLength(whole + 1);
  }
});

test("a damaged record costs itself alone", () => {
  const lines = [1, 2, 3].map((value) => encodeLine({ name: "a", value }));
  const property = fc.property(fc.nat(lines[1]!.length - 2), fc.integer({ min: 1, max: 255 }), (index, mask) => {
    const damaged = Buffer.from(lines[1]!);
    damaged[index]! ^= mask;
    const { records } = parseRecords(Buffer.concat([lines[0]!, damaged, lines[2]!]));
    expect(records).toEqual(
      expect.arrayContaining([
        { name: "a", value: 1 },
        { name: "a", value: 3 },
      ]),
    );
    expect(records).not.toContainEqual(expect.objectContaining({ value: 2 }));
  });
  fc.assert(property);
});

test("damage is told when the journal is opened", async () => {
  const path = scratch();
  const { journal, logged } = await open(path);
  for (const value of [1, 2, 3]) await journal.append({ name: `n${value}`, value });
  await journal.close();
  expect(logged).toEqual([]);
  writeFileSync(path, readFileSync(path, "utf8").replace('"n2"', '"x2"'));
  const again = await open(path);
  expect([...again.state.keys()]).toEqual(["n1", "n3"]);
  expect(again.logged).toEqual([expect.stringMatching(/is damaged: a record could not be read/)]);
  await again.journal.close();
});

test("a disk that refuses is told once, until it has taken something", async () => {
  const path = scratch();
  const { journal, logged } = await open(path);
  await journal.append({ name: "a", value: 1 });
  // Another program has shortened the file.
  writeFileSync(path, "");
  await expect(journal.append({ name: "b", value: 2 })).rejects.toMatchObject({ code: "unavailable" });
  await expect(journal.append({ name: "c", value: 3 })).rejects.toMatchObject({ code: "unavailable" });
  expect(logged).toHaveLength(1);
  await journal.close();
});

function removeLocks(path: string): void {
  const directory = join(path, "..");
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory))
    if (name.includes(".lock")) rmSync(join(directory, name), { recursive: true });
}

/** Appends until something fails; answers with what was acknowledged last for each name. */
async function work(path: string, fileSystem: FileSystem): Promise<Map<string, number>> {
  const acknowledged = new Map<string, number>();
  try {
    const { journal } = await open(path, { fileSystem, maxBytes: 150 });
    for (let value = 0; value < 12; value++) {
      const name = `n${value % 4}`;
      await journal.append({ name, value }).then(() => acknowledged.set(name, value), mustBeTold);
    }
    await journal.close();
  } catch (error) {
    mustBeTold(error);
  }
  return acknowledged;
}

function mustBeTold(error: unknown): void {
  const { code } = error as { code?: string };
  if (code !== "unavailable" && code !== "EIO") throw error;
}

/** Expects what was acknowledged, or a later value that was not acknowledged. */
function expectKept(state: ReadonlyMap<string, number>, acknowledged: ReadonlyMap<string, number>): void {
  for (const [name, value] of acknowledged) expect(state.get(name), name).toBeGreaterThanOrEqual(value);
}

test.each(["once", "forever"] as const)(
  "no call of the file system that fails %s loses what was acknowledged",
  async (lasts) => {
    const path = scratch();
    const calls = await withEveryFault(
      nodeFileSystem,
      async (fileSystem) => {
        rmSync(join(path, ".."), { recursive: true, force: true });
        const acknowledged = await work(path, fileSystem);
        // The lease of this process may not have been released: that needs the disk too.
        removeLocks(path);
        const { journal, state } = await open(path);
        expectKept(state, acknowledged);
        await journal.append({ name: "after", value: 1 });
        await journal.close();
      },
      { lasts },
    );
    expect(calls).toBeGreaterThan(50);
  },
);

test("no power loss loses what was acknowledged", async () => {
  const whole = createCrashFileSystem();
  await work("/gateway/test.jsonl", whole);
  for (let power = 1; power < whole.calls; power += 3) {
    const disk = createCrashFileSystem();
    disk.powerAfter = power;
    const acknowledged = await work("/gateway/test.jsonl", disk);
    for (const luck of [{}, { bytes: 0.5, names: true }, { bytes: 1, zeros: true, names: true }]) {
      const after = disk.afterCrash(luck);
      // The machine has booted again, so the process that held the lease is gone.
      for (const { name } of await after.readdir("/gateway").catch(() => [])) {
        if (name.includes(".lock")) await after.unlink(`/gateway/${name}`);
      }
      const { journal, state } = await open("/gateway/test.jsonl", { fileSystem: after });
      expectKept(state, acknowledged);
      await journal.close();
    }
  }
});
