/** Schedules: looks which are due, records their runs, and lets `scheduled-runs.ts` do them. */
import type { Clock, Ids } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import type { ScheduleData, ScheduleRunData } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import type { GatewaySettings } from "../settings.ts";
import { decideDue, type DueStep } from "./decide-due.ts";
import { describeRun, describeSchedule } from "./describe.ts";
import { getNextHeartbeat, heartbeatId, readHeartbeatPrompt } from "./heartbeat.ts";
import { getSystemTimeZone, NextTimes } from "./next-times.ts";
import type { WrittenTime } from "./parse-time.ts";
import { formatMissedReport } from "./run-text.ts";
import type { Schedule, ScheduleRun } from "./schedule.ts";
import { appendAlways, type ScheduledRuns } from "./scheduled-runs.ts";
import type { ScheduleMessages } from "./schedule-messages.ts";
import type { ScheduleStore } from "./store.ts";

interface SchedulesParts {
  store: ScheduleStore;
  runs: ScheduledRuns;
  messages: ScheduleMessages;
  /** The heartbeat of the settings. */
  getHeartbeat: () => Schedule | undefined;
  getSettings: () => GatewaySettings;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
}

/** A schedule as somebody adds it. */
type ScheduleDraft = Omit<Schedule, "id" | "name" | "time" | "createdAt"> &
  WrittenTime & { readonly name?: string | undefined; readonly timeZone?: string | undefined };

/** The clock may be set, and a machine may sleep: then a timer is late. */
const maxWaitMs = 60_000;

const maxSchedules = 1_000;

/** How long a schedule that is never due again is listed. */
const keepOverMs = 7 * 24 * 60 * 60_000;

export class Schedules {
  readonly #parts: SchedulesParts;
  readonly #times = new NextTimes();
  readonly #looks = new SerialQueue();
  #cancelTimer = () => {};
  #isStarted = false;
  #isStopped = false;

  constructor(parts: SchedulesParts) {
    this.#parts = parts;
    parts.store.onChange(() => void this.wake());
  }

  async start(): Promise<void> {
    this.#isStarted = true;
    await this.wake();
  }

  /** Begins nothing more. What is recorded is continued after the next start. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  /** Resolves when nothing is being recorded any more. */
  async settled(): Promise<void> {
    await this.#looks.whenIdle();
    await this.#parts.runs.settled();
  }

  async list(): Promise<ScheduleData[]> {
    const { store } = this.#parts;
    await store.refresh();
    const schedules = this.#listSchedules();
    await Promise.all(schedules.map(({ time }) => this.#times.prepare(time)));
    return schedules.map((schedule) => this.#describe(schedule));
  }

  /** The latest first. Throws `not_found` for a schedule that never was. */
  async listRuns({ scheduleId, limit }: { scheduleId: string | undefined; limit: number }): Promise<ScheduleRunData[]> {
    const { store } = this.#parts;
    await store.refresh();
    const runs = [...store.table.runs()].filter((run) => scheduleId === undefined || run.scheduleId === scheduleId);
    if (runs.length === 0 && scheduleId !== undefined) this.#mustFind(scheduleId);
    const latest = runs.toReversed().slice(0, limit);
    return latest.map((run) => describeRun(run, this.find(run.scheduleId)?.name ?? run.scheduleId));
  }

  /** Undefined for one that was removed. */
  find(scheduleId: string): Schedule | undefined {
    if (scheduleId === heartbeatId) return this.#parts.getHeartbeat();
    return this.#parts.store.table.get(scheduleId)?.schedule;
  }

  /** How many schedules that a session has added are still due. */
  async count(sessionId: string): Promise<number> {
    const schedules = (await this.list()).filter((schedule) => schedule.sessionId === sessionId);
    return schedules.filter(({ state }) => state !== "over").length;
  }

  /** Throws `invalid_parameters` for a time that is not valid, is over, or never comes. */
  async add({ at, every, cron, name, timeZone, ...draft }: ScheduleDraft): Promise<ScheduleData> {
    const { store, clock, ids, getSettings } = this.#parts;
    const nowMs = clock.now();
    const zone = timeZone ?? getSettings().schedules.timeZone ?? getSystemTimeZone();
    const time = await this.#times.resolve({ at, every, cron }, { timeZone: zone, nowMs });
    if ([...store.table.states()].length >= maxSchedules) {
      throw new GatewayError("rate_limited", `There are ${maxSchedules} schedules. Remove some of them first.`);
    }
    const id = ids().replaceAll("-", "").slice(-8);
    const schedule: Schedule = { ...draft, id, name: name ?? toName(draft.prompt), time, createdAt: nowMs };
    await appendAlways(store, { type: "added", schedule });
    void this.wake();
    return this.#describe(schedule);
  }

  async remove(scheduleId: string): Promise<void> {
    await this.#change(scheduleId, { type: "removed", scheduleId });
  }

  async pause(scheduleId: string): Promise<void> {
    await this.#change(scheduleId, { type: "paused", scheduleId, untilMs: this.#parts.clock.now() });
  }

  /** Due times while it was paused are left out. */
  async resume(scheduleId: string): Promise<void> {
    await this.#change(scheduleId, { type: "resumed", scheduleId, untilMs: this.#parts.clock.now() });
  }

  /** Begins a run now, besides those that are due. Throws `busy` while one is not over. */
  async run(scheduleId: string): Promise<ScheduleRunData> {
    const { store, ids, clock } = this.#parts;
    await store.refresh();
    const schedule = this.#mustFind(scheduleId);
    if (scheduleId === heartbeatId && (await readHeartbeatPrompt(schedule)) === undefined) {
      throw new GatewayError("conflict", "The heartbeat has nothing to look at: its list is empty.");
    }
    for (;;) {
      const { revision } = store;
      if (store.table.isBusy(scheduleId)) {
        throw new GatewayError("busy", `A run of the schedule ${scheduleId} is not over yet.`);
      }
      const dueMs = clock.now();
      const run = this.#createRun(scheduleId, { id: `${scheduleId}/${ids()}`, dueMs, cause: "person" });
      if ((await store.append({ type: "begun", run, untilMs: 0 }, revision)) === undefined) continue;
      void this.#parts.runs.resume(run.id);
      return describeRun(run, schedule.name);
    }
  }

  /** Looks what is to be done, and again when something is due. Never rejects. */
  async wake(): Promise<void> {
    if (!this.#isStarted || this.#isStopped) return;
    await this.#looks.add(async () => {
      if (this.#isStopped) return;
      this.#cancelTimer();
      let waitMs: number | undefined = maxWaitMs;
      try {
        waitMs = await this.#look();
      } catch (error) {
        this.#parts.log(`The schedules could not be looked at: ${getErrorMessage(error)}`);
      }
      if (this.#isStopped || waitMs === undefined) return;
      this.#cancelTimer = this.#parts.clock.setTimer(waitMs, () => void this.wake());
    });
  }

  /** Returns when to look again; undefined if there is nothing to wait for. */
  async #look(): Promise<number | undefined> {
    const { store, clock, runs, messages } = this.#parts;
    await store.refresh();
    await this.#followSettings();
    await runs.takeOver();
    let nextMs: number | undefined;
    for (let isWhole = false; !isWhole;) {
      const { steps, revision, nextMs: dueMs } = await this.#decide();
      nextMs = dueMs;
      isWhole = await this.#takeAll(steps, revision);
    }
    for (const { id } of runs.listOwn()) void runs.resume(id);
    await messages.tell();
    await this.#forgetOver();
    const isIdle = nextMs === undefined && runs.listOwn().length === 0 && [...store.table.messages()].length === 0;
    if (isIdle && !store.isShared) return undefined;
    return Math.min(Math.max((nextMs ?? Number.POSITIVE_INFINITY) - clock.now(), 0), maxWaitMs);
  }

  async #decide() {
    const { store, clock, getSettings } = this.#parts;
    const { table } = store;
    const schedules = getSettings().schedules.enabled ? this.#listSchedules() : [];
    for (const { id, time } of schedules) {
      await this.#times.prepare(time).catch((error: unknown) => {
        // Another version of tau may have added it.
        this.#parts.log(`The schedule ${id} has no next time: ${getErrorMessage(error)}`);
      });
    }
    // From here on, nothing is waited for: what is decided belongs to this revision.
    const { revision } = store;
    const facts = schedules.flatMap((schedule) => {
      const state = table.get(schedule.id);
      if (!state) return [];
      const { doneUntilMs, isPaused } = state;
      const isBusy = table.isBusy(schedule.id);
      return [{ id: schedule.id, doneUntilMs, isPaused, isBusy, leavesOutMissed: schedule.leavesOutMissed === true }];
    });
    const byId = new Map(schedules.map((schedule) => [schedule.id, schedule]));
    return { ...decideDue(facts, clock.now(), (id, afterMs) => this.#getNext(byId.get(id)!, afterMs)), revision };
  }

  #getNext({ id, time }: Schedule, afterMs: number): number | undefined {
    const getNext = (after: number) => this.#times.getNext(time, after);
    if (id !== heartbeatId) return getNext(afterMs);
    return getNextHeartbeat(this.#parts.getSettings().heartbeat, afterMs, getNext);
  }

  /** False if something was recorded meanwhile: then the others have to be decided anew. */
  async #takeAll(steps: readonly DueStep[], decidedAt: number): Promise<boolean> {
    let revision: number | undefined = decidedAt;
    for (const step of steps) {
      revision = await this.#take(step, revision);
      if (revision === undefined) return false;
    }
    return true;
  }

  async #take(step: DueStep, revision: number): Promise<number | undefined> {
    const { store, runs, log, clock } = this.#parts;
    const { scheduleId, untilMs } = step;
    const schedule = this.find(scheduleId);
    if (!schedule) return undefined;
    if (step.kind === "run" && scheduleId === heartbeatId && (await readHeartbeatPrompt(schedule)) === undefined) {
      return await store.append({ type: "passed", scheduleId, untilMs }, revision);
    }
    const dueMs = step.kind === "run" ? step.dueMs : step.missed.toMs;
    const cause = step.kind === "run" ? step.cause : "due";
    const begun = this.#createRun(scheduleId, { id: `${scheduleId}/${dueMs}`, dueMs, cause });
    const run: ScheduleRun = {
      ...begun,
      ...(step.kind === "missed" && { id: `${begun.id}/missed`, state: "missed", endedAt: clock.now() }),
      ...(step.missed && { missed: step.missed }),
    };
    const report = formatMissedReport(schedule.name, run);
    const isSaid = report !== undefined && schedule.conversation !== undefined && !schedule.isLight;
    const type = step.kind === "run" ? "begun" : "missed";
    const next = await store.append({ type, run, untilMs, ...(isSaid && { say: report }) }, revision);
    if (next === undefined) return undefined;
    if (report !== undefined) log(report);
    if (step.kind === "run") void runs.resume(run.id);
    return next;
  }

  #createRun(scheduleId: string, named: Pick<ScheduleRun, "id" | "dueMs" | "cause">): ScheduleRun {
    const { store, clock } = this.#parts;
    return { ...named, scheduleId, state: "begun", owner: store.owner, beganAt: clock.now() };
  }

  /** The heartbeat counts from when the settings turn it on. */
  async #followSettings(): Promise<void> {
    const { store, clock, getHeartbeat } = this.#parts;
    const [isWanted, isKnown] = [getHeartbeat() !== undefined, store.table.get(heartbeatId) !== undefined];
    if (isWanted && !isKnown) await store.append({ type: "passed", scheduleId: heartbeatId, untilMs: clock.now() });
    if (!isWanted && isKnown && !store.isShared) await store.append({ type: "removed", scheduleId: heartbeatId });
  }

  async #forgetOver(): Promise<void> {
    const { store, clock } = this.#parts;
    for (const { time, id } of this.#listSchedules()) {
      if (time.kind !== "at" || clock.now() - time.atMs < keepOverMs || store.table.isBusy(id)) continue;
      await store.append({ type: "removed", scheduleId: id });
    }
  }

  #listSchedules(): Schedule[] {
    const { store, getHeartbeat } = this.#parts;
    const heartbeat = getHeartbeat();
    return [...[...store.table.states()].flatMap(({ schedule }) => schedule ?? []), ...(heartbeat ? [heartbeat] : [])];
  }

  #describe(schedule: Schedule): ScheduleData {
    const { store, clock } = this.#parts;
    const state = store.table.get(schedule.id);
    const nextMs = this.#getNext(schedule, Math.max(clock.now(), state?.doneUntilMs ?? 0));
    return describeSchedule(schedule, { state, isBusy: store.table.isBusy(schedule.id), nextMs });
  }

  async #change(scheduleId: string, record: Parameters<ScheduleStore["append"]>[0]): Promise<void> {
    const { store } = this.#parts;
    await store.refresh();
    this.#mustFind(scheduleId);
    if (scheduleId === heartbeatId && record.type === "removed") {
      throw new GatewayError("conflict", "The heartbeat is in the settings: remove gateway.heartbeat.every there.");
    }
    await appendAlways(store, record);
    void this.wake();
  }

  #mustFind(scheduleId: string): Schedule {
    const schedule = this.find(scheduleId);
    if (schedule) return schedule;
    throw new GatewayError("not_found", `There is no schedule ${JSON.stringify(scheduleId.slice(0, 80))}.`);
  }
}

const maxNameLength = 40;

const toName = (prompt: string): string => {
  const line = prompt.replaceAll(/\s+/g, " ").trim();
  return line.length > maxNameLength ? `${line.slice(0, maxNameLength - 1).toWellFormed()}…` : line;
};
