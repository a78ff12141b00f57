import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import { type FileSystem, nodeFileSystem, type OpenHandle } from "@tau/tools/platform";
import { withEveryFault } from "@tau/tools/testing";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDebugLog, type DebugLogOptions } from "./debug-log.ts";

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "tau-debug-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function openLog(options: Partial<DebugLogOptions> = {}) {
  const path = options.path ?? join(temporary(), "logs", "debug.log");
  const log = createDebugLog({ clock: systemClock, secrets: () => [], ...options, path });
  return { path, log };
}

interface Line {
  time: string;
  event: string;
  data?: unknown;
  cut?: number;
}

const toLines = (path: string): Line[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

test("lines are JSON, with the time first, in the order of the events", async () => {
  const { path, log } = openLog({ clock: createFakeClock() });
  log.log("start", { n: 1 });
  log.log("stop");
  await log.flush();
  log.log("again", [1, "two"]);
  await log.close();
  log.log("after the end");
  await log.flush();
  expect(readFileSync(path, "utf8")).toBe(
    [
      `{"time":"2023-11-14T22:13:20.000Z","event":"start","data":{"n":1}}`,
      `{"time":"2023-11-14T22:13:20.000Z","event":"stop"}`,
      `{"time":"2023-11-14T22:13:20.000Z","event":"again","data":[1,"two"]}`,
      "",
    ].join("\n"),
  );
});

test("data is copied when it is logged", async () => {
  const { path, log } = openLog();
  const data = { text: "before" };
  log.log("seen", data);
  data.text = "after";
  await log.close();
  expect(toLines(path)[0]!.data).toEqual({ text: "before" });
});

test("only its owner can read the file, also if others could before, and after it was renamed", async () => {
  const path = join(temporary(), "debug.log");
  writeFileSync(path, "x".repeat(600) + "\n");
  chmodSync(path, 0o644);
  const { log } = openLog({ path, maxBytes: 700 });
  log.log("one", "y".repeat(200));
  await log.close();
  for (const file of [path, `${path}.1`]) expect(statSync(file).mode & 0o777, file).toBe(0o600);
});

test("the file is renamed before it becomes too large, and only one old file is kept", async () => {
  const { path, log } = openLog({ maxBytes: 2_000 });
  for (let n = 0; n < 100; n++) {
    log.log("tick", { n, text: "t".repeat(100) });
    await log.flush();
  }
  await log.close();
  const directory = join(path, "..");
  expect(readdirSync(directory).sort()).toEqual(["debug.log", "debug.log.1"]);
  for (const file of [path, `${path}.1`]) expect(statSync(file).size).toBeLessThanOrEqual(2_000);
  const numbers = [...toLines(`${path}.1`), ...toLines(path)].map(({ data }) => (data as { n: number }).n);
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 100 - numbers.length + index));
});

test("two logs of one file go on in the new file if one of them renames it", async () => {
  const path = join(temporary(), "debug.log");
  const logs = [openLog({ path, maxBytes: 1_000 }).log, openLog({ path, maxBytes: 1_000 }).log];
  for (let n = 0; n < 100; n++) {
    const log = logs[n % 3 === 0 ? 0 : 1]!;
    log.log("tick", n);
    await log.flush();
  }
  for (const log of logs) await log.close();
  for (const file of [path, `${path}.1`]) expect(statSync(file).size).toBeLessThanOrEqual(1_000);
  const numbers = [...toLines(`${path}.1`), ...toLines(path)].map(({ data }) => data as number);
  expect(numbers.length).toBeGreaterThan(15);
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 100 - numbers.length + index));
});

test("a log that was deleted is created again", async () => {
  const { path, log } = openLog();
  log.log("one");
  await log.flush();
  rmSync(path);
  log.log("two");
  await log.close();
  expect(toLines(path).map(({ event }) => event)).toEqual(["two"]);
});

test("a line that is too long is cut and still JSON", async () => {
  const { path, log } = openLog();
  log.log("long", { text: 'ü"\\'.repeat(20_000) });
  log.log(
    "wide",
    Array.from({ length: 3_000 }, (_, index) => `item ${index}`),
  );
  log.log("e".repeat(10_000), "short");
  await log.close();
  for (const line of readFileSync(path, "utf8").split("\n"))
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(16 * 1024);
  const [long, wide, named] = toLines(path);
  expect(long).toMatchObject({
    event: "long",
    cut: expect.any(Number) as number,
    data: expect.stringContaining("text") as string,
  });
  expect(wide!.data).toContain("item 17");
  expect(named!.data).toBe("short");
});

/** A disk that does nothing until it is let. */
function slowDisk() {
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    async open(...args) {
      const handle = await nodeFileSystem.open(...args);
      return { ...handle, write: (...data) => gate.then(() => handle.write(...data)) };
    },
  };
  return { fileSystem, open: () => open() };
}

test("with a slow disk lines are dropped and counted, and the memory is limited", async () => {
  const disk = slowDisk();
  const { path, log } = openLog({ fileSystem: disk.fileSystem });
  for (let n = 0; n < 1_000; n++) log.log("much", `${n} ${"x".repeat(5_000)}`);
  disk.open();
  await log.flush();
  log.log("later");
  await log.close();
  const lines = toLines(path);
  const kept = lines.filter(({ event }) => event === "much").length;
  expect(kept).toBeGreaterThan(150);
  expect(kept).toBeLessThan(250);
  expect(lines.slice(kept)).toEqual([
    { time: expect.any(String) as string, event: "dropped", data: { lines: 1_000 - kept } },
    { time: expect.any(String) as string, event: "later" },
  ]);
});

test("flush waits at most 2 s for a disk that hangs", async () => {
  const clock = createFakeClock();
  const disk = slowDisk();
  const { log } = openLog({ fileSystem: disk.fileSystem, clock });
  log.log("lost");
  let isDone = false;
  const done = log.close().then(() => (isDone = true));
  await clock.advance(1_999);
  expect(isDone).toBe(false);
  await clock.advance(1);
  await done;
  expect(clock.waiting).toBe(0);
  disk.open();
  await log.close();
});

test("whichever call to the disk fails, logging goes on, and lost lines are counted", async () => {
  await withEveryFault(nodeFileSystem, async (fileSystem) => {
    const { path, log } = openLog({ fileSystem });
    for (const event of ["one", "two", "three"]) {
      log.log(event);
      await log.flush();
    }
    await log.close();
    const lines = toLines(path);
    const lost = lines.filter(({ event }) => event === "dropped").map(({ data }) => (data as { lines: number }).lines);
    const seen = new Set(lines.map(({ event }) => event).filter((event) => event !== "dropped"));
    // A line may be there although the disk said no; it is never missing without a word.
    expect(seen.size + (lost[0] ?? 0)).toBeGreaterThanOrEqual(3);
  });
});

test("an incomplete line on a full disk damages no other line", async () => {
  let isFull = true;
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    async open(...args) {
      const handle = await nodeFileSystem.open(...args);
      const write: OpenHandle["write"] = async (data) => {
        await handle.write(isFull ? data.subarray(0, 10) : data);
        if (isFull) throw Object.assign(new Error("full"), { code: "ENOSPC" });
      };
      return { ...handle, write };
    },
  };
  const { path, log } = openLog({ fileSystem });
  log.log("lost");
  await log.flush();
  isFull = false;
  log.log("kept");
  await log.close();
  const [half, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(half).toHaveLength(10);
  expect(lines.map((line) => (JSON.parse(line) as Line).event)).toEqual(["kept", "dropped"]);
});

test("with a fast disk no line is dropped, however many there are", async () => {
  const { path, log } = openLog();
  for (let n = 0; n < 200; n++) {
    log.log("much", "x".repeat(12_000));
    await log.flush();
  }
  await log.close();
  expect(toLines(path).map(({ event }) => event)).toEqual(Array.from({ length: 200 }, () => "much"));
});

test("nothing is written if the secrets are not known", async () => {
  let isBroken = true;
  const { path, log } = openLog({
    secrets: () => {
      if (isBroken) throw new Error("locked");
      return ["hush hush hush"];
    },
  });
  log.log("one", "hush hush hush");
  isBroken = false;
  log.log("two", "hush hush hush");
  await log.close();
  expect(toLines(path).map(({ event, data }) => [event, data])).toEqual([
    ["two", "[secret]"],
    ["dropped", { lines: 1 }],
  ]);
});

test("a secret stays secret when it is no longer returned, and more can be added", async () => {
  let secrets = ["first secret"];
  const { path, log } = openLog({ secrets: () => secrets });
  log.log("a", "first secret, second secret");
  secrets = [];
  log.addSecret("second secret");
  log.log("b", "first secret, second secret");
  await log.close();
  expect(toLines(path).map(({ data }) => data)).toEqual(["[secret], second secret", "[secret], [secret]"]);
});

test("a secret that is split over two values is not written either", async () => {
  const { path, log } = openLog({ secrets: () => [`one","two`, `"event":"x`, `[secret]`] });
  log.log("pair", ["one", "two"]);
  log.log("x");
  log.log("mark", { token: "hush" });
  log.log("good", 1);
  await log.close();
  expect(toLines(path).map(({ event, data }) => [event, data])).toEqual([
    ["good", 1],
    ["dropped", { lines: 3 }],
  ]);
});

describe("law: a secret is never in the file", () => {
  const plain = fc.string({ minLength: 8, maxLength: 40, unit: fc.constantFrom(..."abcdefgHIJKLMNOP0123456789-_") });
  const wild = fc.string({ minLength: 8, maxLength: 40, unit: "binary" });
  const aroundIt = fc.string({ maxLength: 12, unit: "grapheme" });

  const written = (secret: string) =>
    fc
      .tuple(aroundIt, aroundIt)
      .chain(([before, after]) =>
        fc.constantFrom(
          before + secret + after,
          secret,
          secret + secret,
          before + JSON.stringify(secret) + after,
          JSON.stringify({ [before]: JSON.stringify({ [secret]: after }) }),
          `https://host/${encodeURIComponent(secret)}?q=${encodeURIComponent(after)}`,
          new URLSearchParams({ [before]: secret }).toString(),
          Buffer.from(secret).toString("base64"),
          Buffer.from(secret).toString("base64url"),
          Buffer.from(before + secret + after).toString("base64"),
          `${"x".repeat(20_000)}${secret}`,
          `${"x".repeat(16_380)}${secret}${after}`,
        ),
      );

  const structure = (text: fc.Arbitrary<string>) =>
    fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        text,
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withSparseArray: true,
        }),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.oneof(fc.string(), text), tie("value"), { maxKeys: 3 }),
        fc.array(fc.tuple(text, tie("value")), { maxLength: 3 }).map((pairs) => new Map(pairs)),
        fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
        fc.tuple(text, tie("value")).map(([message, cause]) => new Error(message, { cause })),
      ),
    })).value;
  const noForm = (bytes: Buffer, secret: string) => {
    const text = bytes.toString("utf8");
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    for (const form of forms) expect(text).not.toContain(form);
    for (const [run] of text.matchAll(/[\w+/-]{8,}/g))
      for (const from of [0, 1, 2, 3])
        expect(Buffer.from(run.slice(from), "base64").toString("utf8")).not.toContain(secret);
  };

  const holds = (secrets: fc.Arbitrary<string>, check: (path: string) => void) =>
    fc.assert(
      fc.asyncProperty(
        secrets.chain((secret) =>
          fc.record({ secret: fc.constant(secret), event: written(secret), data: structure(written(secret)) }),
        ),
        async ({ secret, event, data }) => {
          const directory = mkdtempSync(join(tmpdir(), "tau-debug-"));
          try {
            const { path, log } = openLog({ path: join(directory, "debug.log"), secrets: () => [secret] });
            log.log("probe", { data });
            log.log(event, data);
            await log.close();
            noForm(readFileSync(path), secret);
            check(path);
          } finally {
            rmSync(directory, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: process.env["TAU_LONG"] ? 100 : 35 },
    );

  test("for secrets like keys, and their lines are in the log", async () => {
    await holds(plain, (path) => expect(toLines(path).map(({ event }) => event)[0]).toBe("probe"));
  });

  test("for secrets of any characters", async () => {
    await holds(wild, () => undefined);
  });
});
