import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { ScheduleRecord } from "../../src/schedules/index.ts";
import { buildChild } from "../fixtures/child.ts";

const killCount = process.env["TAU_LONG"] === undefined ? 8 : 60;

const readLines = async (path: string): Promise<string[]> =>
  (await readFile(path, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");

const getSize = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0;

test(
  "however often the gateway is killed around a due time, no run begins twice, and none is lost silently",
  { timeout: 600_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "tau-schedule-kill-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
    const [agentDir, workspace, asked] = [join(directory, "agent"), join(directory, "work"), join(directory, "asked")];
    await mkdir(workspace);
    const program = join(directory, "gateway-child.mjs");
    await buildChild(fileURLToPath(new URL("gateway-child.ts", import.meta.url)), program);
    const journal = join(agentDir, "gateway", "schedules.jsonl");
    const readRecords = async () => (await readLines(journal)).map((line) => JSON.parse(line) as ScheduleRecord);
    let child: ChildProcess;
    onTestFinished(() => void child.kill("SIGKILL"));
    const start = async () => {
      child = spawn(process.execPath, [program, agentDir, workspace, asked], { stdio: ["ignore", "pipe", "inherit"] });
      await once(child.stdout!, "data");
    };
    const kill = async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    };
    for (let kills = 0; kills < killCount; kills++) {
      // In turn: as soon as something is recorded, and as soon as the agent has begun.
      const watched = kills % 2 === 0 ? journal : asked;
      const before = await getSize(watched);
      await start();
      await expect.poll(() => getSize(watched), { timeout: 60_000, interval: 1 }).toBeGreaterThan(before);
      await kill();
    }
    await start();
    const countEnds = async () => (await readRecords()).filter(({ type }) => type === "ended").length;
    const ends = await countEnds();
    await expect.poll(countEnds, { timeout: 60_000 }).toBeGreaterThan(ends + 1);
    await kill();

    const begun = await readLines(asked);
    expect(begun).toEqual([...new Set(begun)]);
    const records = await readRecords();
    const runs = records.flatMap((record) => (record.type === "begun" || record.type === "missed" ? [record] : []));
    const dueTimes = runs.flatMap(({ run }) => (run.state === "begun" ? [run.dueMs] : []));
    expect(dueTimes).toEqual([...new Set(dueTimes)]);
    // All that was begun and has ended was either told to the agent once, or failed; nothing ends twice.
    const ended = records.flatMap((record) => (record.type === "ended" ? [record.runId] : []));
    expect(ended).toEqual([...new Set(ended)]);
    const added = records.find((record) => record.type === "added");
    const firstMs = Math.floor((added?.type === "added" ? added.schedule.createdAt : 0) / 1_000 + 1) * 1_000;
    const lastMs = Math.max(...runs.map(({ untilMs }) => untilMs));
    const isKnown = (dueMs: number) =>
      runs.some(
        ({ run }) =>
          (run.state === "begun" && run.dueMs === dueMs) ||
          (run.missed !== undefined && dueMs >= run.missed.fromMs && dueMs <= run.missed.toMs),
      );
    const lost: string[] = [];
    for (let dueMs = firstMs; dueMs <= lastMs; dueMs += 1_000)
      if (!isKnown(dueMs)) lost.push(new Date(dueMs).toISOString());
    expect(lost).toEqual([]);
    // Everything that was begun has ended, but for the last one.
    expect(dueTimes.length - ended.length).toBeLessThanOrEqual(1);
  },
);
