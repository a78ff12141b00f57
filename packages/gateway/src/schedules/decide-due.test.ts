import fc from "fast-check";
import { expect, test } from "vitest";
import { decideDue, type DueFacts, type DueStep, maxDelayMs } from "./decide-due.ts";

/** Every 10 minutes. */
const stepMs = 10 * 60_000;
const every = (ms: number) => (_id: string, afterMs: number) => (Math.floor(afterMs / ms) + 1) * ms;

const facts = (changes: Partial<DueFacts> = {}): DueFacts => ({
  id: "s",
  doneUntilMs: 0,
  isPaused: false,
  isBusy: false,
  leavesOutMissed: false,
  ...changes,
});

const missed = (count: number, from: number, to: number, reason: "stopped" | "busy" = "stopped") => ({
  count,
  fromMs: from * stepMs,
  toMs: to * stepMs,
  reason,
});

const rows: [string, Partial<DueFacts>, nowMs: number, Partial<DueStep> | undefined][] = [
  ["nothing before the time", {}, stepMs - 1, undefined],
  ["a run at the time", {}, stepMs, { kind: "run", dueMs: stepMs, cause: "due" }],
  ["a run that is on time although the timer was late", {}, stepMs + maxDelayMs, { kind: "run", cause: "due" }],
  ["a run that is made up", {}, stepMs + maxDelayMs + 1, { kind: "run", dueMs: stepMs, cause: "late" }],
  [
    "one run for all that were missed",
    {},
    5 * stepMs + maxDelayMs + 1,
    { kind: "run", dueMs: 5 * stepMs, cause: "late", untilMs: 5 * stepMs + maxDelayMs + 1, missed: missed(4, 1, 4) },
  ],
  [
    "a run that is on time after others were missed",
    {},
    5 * stepMs,
    { kind: "run", dueMs: 5 * stepMs, cause: "due", missed: missed(4, 1, 4) },
  ],
  [
    "no run while the one before lasts",
    { isBusy: true },
    2 * stepMs,
    { kind: "missed", missed: missed(2, 1, 2, "busy") },
  ],
  [
    "no run that is made up, if they are left out",
    { leavesOutMissed: true },
    2 * stepMs + maxDelayMs + 1,
    { kind: "missed", missed: missed(2, 1, 2) },
  ],
  ["nothing while it is paused", { isPaused: true }, 5 * stepMs, undefined],
  ["nothing that was dealt with before the clock was set back", { doneUntilMs: 5 * stepMs }, 3 * stepMs, undefined],
];

test.each(rows)("there is %s", (_name, changes, nowMs, expected) => {
  const { steps } = decideDue([facts(changes)], nowMs, every(stepMs));
  if (expected) expect(steps).toEqual([expect.objectContaining(expected)]);
  else expect(steps).toEqual([]);
});

test("the next look is when the first of all is due", () => {
  const getNext = (id: string, afterMs: number) =>
    id === "never" ? undefined : every(id === "a" ? 7 : 5)(id, afterMs);
  const schedules = [facts({ id: "a" }), facts({ id: "b" }), facts({ id: "never" })];
  expect(decideDue(schedules, 1, getNext).nextMs).toBe(5);
  expect(decideDue([facts({ id: "never" })], 1, getNext).nextMs).toBeUndefined();
  expect(decideDue([facts({ id: "a", isPaused: true })], 1, getNext).nextMs).toBeUndefined();
});

test("after a long stop, only so many are counted, and no more is looked for", () => {
  let calls = 0;
  const getNext = (_id: string, afterMs: number) => {
    calls++;
    return afterMs + 1;
  };
  const { steps } = decideDue([facts()], 1_000_000, getNext);
  expect(steps).toEqual([
    expect.objectContaining({ kind: "run", missed: expect.objectContaining({ isAtLeast: true }) }),
  ]);
  expect(calls).toBeLessThan(200);
});

/** A process that looks, stops and starts again, on a clock that jumps; records are on the disk before anything runs. */
const moves = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("look" as const), afterMs: fc.integer({ min: 0, max: 3 * stepMs }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("stop" as const), forMs: fc.integer({ min: 0, max: 30 * stepMs }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("jump" as const),
      byMs: fc.integer({ min: -20 * stepMs, max: 20 * stepMs }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const) }) },
  /** Killed after the record, before anything else. */
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("kill" as const), afterMs: fc.integer({ min: 0, max: 2 * stepMs }) }),
  },
);

test("whatever stops and jumps there are, no time has two runs, one is made up at most, and none is lost silently", () => {
  fc.assert(
    fc.property(
      fc.array(moves, { maxLength: 60 }),
      fc.array(fc.integer({ min: 60_000, max: 5 * stepMs }), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      (list, periods, leavesOutMissed) => {
        const getNext = (id: string, afterMs: number) => every(periods[Number(id)]!)(id, afterMs);
        let nowMs = 0;
        const done = periods.map(() => 0);
        const busy = periods.map(() => false);
        /** Each due time that has a run, or was reported. */
        const fates = periods.map(() => new Map<number, string>());
        const settle = (id: string, dueMs: number, fate: string) => {
          // No time has two fates.
          expect(fates[Number(id)]!.get(dueMs)).toBeUndefined();
          fates[Number(id)]!.set(dueMs, fate);
        };
        const look = () => {
          const schedules = periods.map((_, index) =>
            facts({ id: String(index), doneUntilMs: done[index]!, isBusy: busy[index]!, leavesOutMissed }),
          );
          const { steps, nextMs } = decideDue(schedules, nowMs, getNext);
          expect(new Set(steps.map(({ scheduleId }) => scheduleId)).size).toBe(steps.length);
          for (const step of steps) {
            const index = Number(step.scheduleId);
            const before = done[index]!;
            if (step.kind === "run") {
              expect(busy[index]).toBe(false);
              if (leavesOutMissed) expect(step.cause).toBe("due");
              settle(step.scheduleId, step.dueMs, step.cause);
              busy[index] = true;
            }
            done[index] = Math.max(before, step.untilMs);
            const { missed: report } = step;
            if (!report) continue;
            const times: number[] = [];
            for (let at = getNext(step.scheduleId, before); at <= report.toMs; at = getNext(step.scheduleId, at))
              times.push(at);
            // What is reported is what there was.
            expect(report.isAtLeast || times.length === report.count).toBe(true);
            expect(times[0]).toBe(report.fromMs);
            for (let at = report.fromMs; at <= nowMs; at = getNext(step.scheduleId, at)) {
              if (step.kind === "run" && at === step.dueMs) continue;
              settle(step.scheduleId, at, "missed");
            }
          }
          if (nextMs !== undefined) expect(nextMs).toBeGreaterThan(nowMs);
        };
        for (const move of list) {
          if (move.kind === "end") busy.fill(false);
          else if (move.kind === "stop") {
            nowMs += move.forMs;
            busy.fill(false);
          } else if (move.kind === "jump") nowMs = Math.max(0, nowMs + move.byMs);
          else {
            nowMs += move.afterMs;
            look();
            if (move.kind === "kill") busy.fill(false);
          }
        }
        look();
        // Every time up to the last look has a fate.
        for (const [index, period] of periods.entries()) {
          const last = Math.max(nowMs, done[index]!);
          const count = Math.floor(last / period);
          const known = fates[index]!;
          for (let at = 1; at <= Math.min(count, 500); at++) expect(known.has(at * period)).toBe(true);
        }
      },
    ),
    { numRuns: process.env["TAU_LONG"] ? 5_000 : 150 },
  );
});
