import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { nodeFileSystem } from "@tau/tools/platform";
import { createMemoryStorage, createRecordFiles, readLog } from "@tau/tools/storage";
import { expect, onTestFinished, test } from "vitest";
import { toDemand } from "../budget/demand.ts";
import { CostLedger, type CostReservation } from "./cost-ledger.ts";

/** A token of input costs $0.25, one of output $1. A request reserves $9 and needs them all. */
const price = { input: 25e4, output: 1e6, cacheRead: 0, cacheWrite: 0 };
const demand = toDemand({ inputTokens: 4, maxOutputTokens: 8, price });
const limits = { day: 20, month: undefined };

function countingIds() {
  let count = 0;
  return () => `id-${++count}`;
}

async function openDirectory(fileSystem = nodeFileSystem) {
  const agentDir = await mkdtemp(join(tmpdir(), "tau-costs-"));
  onTestFinished(() => rm(agentDir, { recursive: true, force: true }));
  const clock = createFakeClock();
  const ids = countingIds();
  const open = () => new CostLedger({ storage: createRecordFiles({ agentDir, fileSystem, clock }), clock, ids });
  return { file: join(agentDir, "costs.jsonl"), clock, open };
}

async function reserve(ledger: CostLedger): Promise<CostReservation> {
  const grant = await ledger.reserve(demand, limits);
  if (grant.kind !== "granted") throw new Error(grant.message);
  return grant.reservation;
}

const tryReserve = async (ledger: CostLedger) => (await ledger.reserve(demand, limits)).kind;

test("two ledgers of one directory share the limit, and what is settled is free for others", async () => {
  const { open, file } = await openDirectory();
  const [first, second] = [open(), open()];
  const [one, two] = [await reserve(first), await reserve(second)];
  expect(await tryReserve(first)).toBe("spent");
  await one.settle(1);
  const three = await reserve(second);
  await Promise.all([two.settle(9), two.settle(9), three.settle(9)]);
  expect(await tryReserve(first)).toBe("spent");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readFile(file, "utf8")).trim().split("\n")).toHaveLength(6);
});

test("a reservation of a process that was killed is released after ten minutes, and its input still counts", async () => {
  const { clock, file } = await openDirectory();
  // It never renews and never settles, as if its process had been killed.
  const killed = new CostLedger({
    storage: createRecordFiles({ agentDir: join(file, "..") }),
    clock: { ...clock, setTimer: () => () => {} },
    ids: () => "killed",
  });
  await reserve(killed);
  const ledger = new CostLedger({
    storage: createRecordFiles({ agentDir: join(file, "..") }),
    clock,
    ids: countingIds(),
  });
  const other = await reserve(ledger);
  await other.settle(5);
  expect(await tryReserve(ledger)).toBe("spent");
  await clock.advance(10 * 60_000 - 1);
  expect(await tryReserve(ledger)).toBe("spent");
  await clock.advance(1);
  const next = await reserve(ledger);
  await next.settle(8);
  // 5, 8 and the input of 1: 6 are left.
  expect(await tryReserve(ledger)).toBe("spent");
});

test("a request that takes an hour stays reserved", async () => {
  const clock = createFakeClock();
  const ledger = new CostLedger({ storage: createMemoryStorage(), clock, ids: countingIds() });
  const [one, two] = [await reserve(ledger), await reserve(ledger)];
  for (let minutes = 0; minutes < 60; minutes += 2) {
    await clock.advance(2 * 60_000);
    expect(await tryReserve(ledger)).toBe("spent");
  }
  await one.settle(0);
  await two.settle(0);
  expect(clock.waiting).toBe(0);
  await ledger.close();
});

test("the next day has its own limit, and the month goes on", async () => {
  const clock = createFakeClock(new Date(2026, 2, 30, 23, 59, 59).getTime());
  const ledger = new CostLedger({ storage: createMemoryStorage(), clock, ids: countingIds() });
  const late = await reserve(ledger);
  await (await reserve(ledger)).settle(9);
  await clock.advance(1_000);
  await (await reserve(ledger)).settle(9);
  // It belongs to the day before, also when it is settled now.
  await late.settle(9);
  expect(await tryReserve(ledger)).toBe("granted");
  expect(await ledger.reserve(demand, { day: undefined, month: 40 })).toMatchObject({ kind: "spent", period: "month" });
  await clock.advance(24 * 60 * 60_000);
  await clock.advance(24 * 60 * 60_000);
  expect(await ledger.reserve(demand, { day: undefined, month: 40 })).toMatchObject({ kind: "granted" });
  await ledger.close();
});

test("the ledger stays small, whatever is asked", async () => {
  const storage = createMemoryStorage();
  const clock = createFakeClock();
  const ledger = new CostLedger({ storage, clock, ids: countingIds() });
  const many = { day: 1e9, month: undefined };
  let largest = 0;
  for (let index = 0; index < 1_500; index++) {
    const grant = await ledger.reserve(demand, many);
    if (grant.kind === "granted") await grant.reservation.settle(1);
    if (index % 50 === 0) largest = Math.max(largest, (await readLog(storage, "record/costs"))!.length);
  }
  expect(largest).toBeLessThan(70_000);
  expect(await ledger.reserve(demand, { day: 1_508, month: undefined })).toMatchObject({ kind: "spent" });
  expect(await ledger.reserve(demand, { day: 1_509, month: undefined })).toMatchObject({ kind: "granted" });
  await ledger.close();
});

test("a line that was cut off by a crash at any byte costs that line alone", async () => {
  const { open, file } = await openDirectory();
  await (await reserve(open())).settle(5);
  const text = await readFile(file, "utf8");
  const reservation = text.indexOf("\n") + 1;
  for (let end = reservation + 1; end < text.length - 1; end += 23) {
    await writeFile(file, text.slice(0, end));
    const ledger = open();
    // The reservation of 9 is still open.
    const next = await reserve(ledger);
    expect(await tryReserve(ledger)).toBe("spent");
    await next.settle(0);
    expect(await tryReserve(ledger)).toBe("granted");
    await ledger.close();
  }
});

test("without its ledger no request is granted, and what could not be settled is settled later", async () => {
  let isBroken = false;
  const { open, file } = await openDirectory({
    ...nodeFileSystem,
    open: (...args) =>
      isBroken && String(args[0]).includes("costs.jsonl")
        ? Promise.reject(Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" }))
        : nodeFileSystem.open(...args),
  });
  const ledger = open();
  const reservation = await reserve(ledger);
  isBroken = true;
  await reservation.settle(3);
  expect(await ledger.reserve(demand, limits)).toMatchObject({
    kind: "failed",
    message: expect.stringContaining("so nothing was sent"),
  });
  isBroken = false;
  expect(await ledger.reserve(demand, { day: 11.9, month: undefined })).toMatchObject({ kind: "spent" });
  expect(await ledger.reserve(demand, { day: 12, month: undefined })).toMatchObject({ kind: "granted" });
  expect(await readFile(file, "utf8")).toContain('"cost":3');
  await ledger.close();
});

test("a directory in the place of the ledger refuses requests, and is named", async () => {
  const { open, file } = await openDirectory();
  await mkdir(file);
  expect(await open().reserve(demand, limits)).toMatchObject({
    kind: "failed",
    message: expect.stringMatching(/costs\.jsonl|EISDIR/),
  });
});
