import { expect, test } from "vitest";
import { type ScheduleRecord, ScheduleTable } from "./records.ts";
import type { Schedule, ScheduleRun } from "./schedule.ts";

const schedule: Schedule = {
  id: "s",
  name: "S",
  time: { kind: "every", everyMs: 1, anchorMs: 0 },
  prompt: "Do it.",
  cwd: "/w",
  rights: {},
  createdAt: 5,
};

const run = (id: string, changes: Partial<ScheduleRun> = {}): ScheduleRun => ({
  id,
  scheduleId: "s",
  dueMs: 10,
  cause: "due",
  state: "begun",
  owner: "o",
  beganAt: 10,
  ...changes,
});

const missed = (id: string, count: number, reason: "busy" | "stopped" = "busy") =>
  run(id, { state: "missed", missed: { count, fromMs: count, toMs: count, reason } });

function take(records: readonly ScheduleRecord[]): ScheduleTable {
  const table = new ScheduleTable();
  for (const record of records) table.take(record);
  return table;
}

const added: ScheduleRecord = { type: "added", schedule };

test("a snapshot leads to the same state", () => {
  const table = take([
    added,
    { type: "begun", run: run("s/1"), untilMs: 10, say: "Late." },
    { type: "session", runId: "s/1", sessionId: "x" },
    { type: "ended", runId: "s/1", end: { state: "done", endedAt: 11, text: "Yes", tokens: 3, cost: 1, say: "Yes." } },
    { type: "begun", run: run("s/2"), untilMs: 20 },
    { type: "taken", runId: "s/2", owner: "p" },
    { type: "passed", scheduleId: "heartbeat", untilMs: 7 },
    { type: "paused", scheduleId: "s", untilMs: 30 },
  ]);
  const copy = take([...table.snapshot()]);
  expect([...copy.snapshot()]).toEqual([...table.snapshot()]);
  expect(copy.get("s")).toMatchObject({ doneUntilMs: 30, isPaused: true, runs: 1, tokens: 3, cost: 1 });
  expect([...copy.messages()].map(({ id, text }) => [id, text])).toEqual([
    ["s/1/missed", "Late."],
    ["s/1", "Yes."],
  ]);
  expect(copy.findRunOfSession("x")?.state).toBe("done");
  expect(copy.getRun("s/2")?.owner).toBe("p");
});

test("a run ends once", () => {
  const end = { state: "done", endedAt: 11, tokens: 3 } as const;
  const table = take([
    added,
    { type: "begun", run: run("s/1"), untilMs: 10 },
    { type: "ended", runId: "s/1", end },
    { type: "ended", runId: "s/1", end: { ...end, state: "cut", say: "Again." } },
  ]);
  expect(table.getRun("s/1")?.state).toBe("done");
  expect(table.get("s")).toMatchObject({ runs: 1, tokens: 3 });
  expect([...table.messages()]).toEqual([]);
});

test("due times that are missed again for the same reason are one line", () => {
  const table = take([
    added,
    { type: "missed", run: missed("a", 1), untilMs: 10 },
    { type: "missed", run: missed("b", 2), untilMs: 20 },
    { type: "missed", run: missed("c", 4, "stopped"), untilMs: 30 },
  ]);
  expect([...table.runs()].map(({ id, missed: what }) => [id, what?.count, what?.fromMs])).toEqual([
    ["b", 3, 1],
    ["c", 4, 4],
  ]);
});

test("due times that were dealt with stay so, whatever is recorded later", () => {
  const table = take([
    added,
    { type: "begun", run: run("s/1"), untilMs: 20 },
    { type: "begun", run: run("s/2"), untilMs: 0 },
    { type: "passed", scheduleId: "s", untilMs: 10 },
  ]);
  expect(table.get("s")?.doneUntilMs).toBe(20);
});

test("a run that is recorded after its schedule was removed brings nothing back", () => {
  const table = take([added, { type: "removed", scheduleId: "s" }, { type: "begun", run: run("s/1"), untilMs: 20 }]);
  expect([...table.states()]).toEqual([]);
});

test("old runs are forgotten, but not one that is not over", () => {
  const ended = Array.from({ length: 60 }, (_, index): ScheduleRecord[] => [
    { type: "begun", run: run(`s/${index}`), untilMs: index },
    { type: "ended", runId: `s/${index}`, end: { state: "done", endedAt: 1 } },
  ]).flat();
  const table = take([
    added,
    { type: "begun", run: run("open"), untilMs: 1 },
    ...ended,
    { type: "begun", run: run("last"), untilMs: 99 },
  ]);
  expect([...table.runs()].length).toBe(52);
  expect(table.getRun("open")?.state).toBe("begun");
  expect(table.getRun("s/0")).toBeUndefined();
});
