/** The records of schedules, and the state that they lead to. Pure. */
import type { MissedRuns, Schedule, ScheduleRun } from "./schedule.ts";

export type ScheduleRecord =
  | { type: "added"; schedule: Schedule }
  | { type: "removed"; scheduleId: string }
  /** `untilMs`: from now on, only later due times count. */
  | { type: "paused" | "resumed"; scheduleId: string; untilMs: number }
  /** Written before anything is done. Due times up to `untilMs` are dealt with. `say`: see `ScheduleMessage`. */
  | { type: "begun" | "missed"; run: ScheduleRun; untilMs: number; say?: string }
  /** The due times up to here need no run. */
  | { type: "passed"; scheduleId: string; untilMs: number }
  | { type: "session"; runId: string; sessionId: string }
  /** Another process continues a run whose process is gone. */
  | { type: "taken"; runId: string; owner: string }
  | { type: "ended"; runId: string; end: RunEnding }
  /** The outbox of channels has recorded a message, or it has nowhere to go. */
  | { type: "told"; messageId: string }
  /** Only in a snapshot. */
  | { type: "state"; state: ScheduleState }
  | { type: "run"; run: ScheduleRun }
  | { type: "message"; message: ScheduleMessage };

export interface RunEnding {
  readonly state: "done" | "failed" | "cut";
  readonly endedAt: number;
  readonly text?: string;
  readonly tokens?: number;
  readonly cost?: number;
  /** See `ScheduleMessage`. */
  readonly say?: string;
}

/** A message to the conversation of a schedule that is not recorded by the outbox of channels yet. */
export interface ScheduleMessage {
  /** A message with the same id is sent once. */
  readonly id: string;
  readonly scheduleId: string;
  readonly sessionId?: string;
  readonly text: string;
}

export interface ScheduleState {
  readonly scheduleId: string;
  /** Undefined for one that the settings make: the heartbeat. */
  readonly schedule?: Schedule;
  /** Due times up to here are dealt with. */
  readonly doneUntilMs: number;
  readonly isPaused: boolean;
  /** The number of its runs that have ended; `tokens` and `cost` are what they have used together. */
  readonly runs: number;
  readonly tokens: number;
  readonly cost: number;
}

/** How many runs of a schedule, and of all together, are kept for people to look at. */
const maxRuns = 50;
const maxAllRuns = 2_000;

export class ScheduleTable {
  readonly #states = new Map<string, ScheduleState>();
  /** Oldest first. */
  readonly #runs = new Map<string, ScheduleRun>();
  readonly #messages = new Map<string, ScheduleMessage>();

  get(scheduleId: string): ScheduleState | undefined {
    return this.#states.get(scheduleId);
  }

  /** In the order in which they were added. */
  states(): Iterable<ScheduleState> {
    return this.#states.values();
  }

  getRun(runId: string): ScheduleRun | undefined {
    return this.#runs.get(runId);
  }

  /** Oldest first. */
  runs(): Iterable<ScheduleRun> {
    return this.#runs.values();
  }

  /** Finds the run that a session was begun for. */
  findRunOfSession(sessionId: string): ScheduleRun | undefined {
    for (const run of this.#runs.values()) if (run.sessionId === sessionId) return run;
    return undefined;
  }

  /** Messages that are still to be sent, oldest first. */
  messages(): Iterable<ScheduleMessage> {
    return this.#messages.values();
  }

  /** Whether a run of the schedule is not over. */
  isBusy(scheduleId: string): boolean {
    for (const run of this.#runs.values()) if (run.scheduleId === scheduleId && run.state === "begun") return true;
    return false;
  }

  /** Forgets everything, before a snapshot is taken. */
  clear(): void {
    this.#states.clear();
    this.#runs.clear();
    this.#messages.clear();
  }

  /** Records that lead to the same state. */
  *snapshot(): Iterable<ScheduleRecord> {
    for (const state of this.#states.values()) yield { type: "state", state };
    for (const run of this.#runs.values()) yield { type: "run", run };
    for (const message of this.#messages.values()) yield { type: "message", message };
  }

  take(record: ScheduleRecord): void {
    switch (record.type) {
      case "added": {
        const { schedule } = record;
        const { id: scheduleId, createdAt: doneUntilMs } = schedule;
        this.#states.set(scheduleId, { ...createState(scheduleId, doneUntilMs), schedule });
        return;
      }
      case "removed":
        this.#states.delete(record.scheduleId);
        return;
      case "paused":
      case "resumed":
        return this.#change(record.scheduleId, () => ({
          isPaused: record.type === "paused",
          doneUntilMs: record.untilMs,
        }));
      case "begun":
      case "missed":
        this.#say(`${record.run.id}/missed`, record.run, record.say);
        return this.#addRun(record.type === "begun" ? record.run : this.#join(record.run), record.untilMs);
      case "passed": {
        const { scheduleId, untilMs } = record;
        if (!this.#states.has(scheduleId)) this.#states.set(scheduleId, createState(scheduleId, untilMs));
        return this.#pass(scheduleId, untilMs);
      }
      case "session":
        return this.#changeRun(record.runId, { sessionId: record.sessionId });
      case "taken":
        return this.#changeRun(record.runId, { owner: record.owner });
      case "ended":
        return this.#end(record.runId, record.end);
      case "told":
        this.#messages.delete(record.messageId);
        return;
      case "state":
        this.#states.set(record.state.scheduleId, record.state);
        return;
      case "run":
        this.#runs.set(record.run.id, record.run);
        return;
      case "message":
        this.#messages.set(record.message.id, record.message);
    }
  }

  #pass(scheduleId: string, untilMs: number): void {
    this.#change(scheduleId, ({ doneUntilMs }) => ({ doneUntilMs: Math.max(doneUntilMs, untilMs) }));
  }

  #addRun(run: ScheduleRun, untilMs: number): void {
    this.#runs.set(run.id, run);
    this.#pass(run.scheduleId, untilMs);
    this.#forgetOldest(run.scheduleId);
  }

  /** Runs that are missed again and again, because one takes long, are one line. */
  #join(run: ScheduleRun): ScheduleRun {
    const last = [...this.#runs.values()].findLast(({ scheduleId }) => scheduleId === run.scheduleId);
    if (last?.state !== "missed" || !last.missed || !run.missed || last.missed.reason !== run.missed.reason) return run;
    this.#runs.delete(last.id);
    return { ...run, missed: joinMissed(last.missed, run.missed) };
  }

  #end(runId: string, { say, ...end }: RunEnding): void {
    const run = this.#runs.get(runId);
    if (run?.state !== "begun") return;
    this.#runs.set(runId, { ...run, ...end });
    this.#say(runId, run, say);
    const { tokens = 0, cost = 0 } = end;
    this.#change(run.scheduleId, (state) => ({
      runs: state.runs + 1,
      tokens: state.tokens + tokens,
      cost: state.cost + cost,
    }));
  }

  #say(id: string, { scheduleId, sessionId }: ScheduleRun, text: string | undefined): void {
    if (text === undefined) return;
    this.#messages.set(id, { id, scheduleId, text, ...(sessionId !== undefined && { sessionId }) });
  }

  #change(scheduleId: string, change: (state: ScheduleState) => Partial<ScheduleState>): void {
    const state = this.#states.get(scheduleId);
    if (state) this.#states.set(scheduleId, { ...state, ...change(state) });
  }

  #changeRun(runId: string, change: Partial<ScheduleRun>): void {
    const run = this.#runs.get(runId);
    if (run) this.#runs.set(runId, { ...run, ...change });
  }

  #forgetOldest(scheduleId: string): void {
    const over = [...this.#runs.values()].filter(({ state }) => state !== "begun");
    const own = over.filter((run) => run.scheduleId === scheduleId);
    for (const { id } of [...own.slice(0, -maxRuns), ...over.slice(0, -maxAllRuns)]) this.#runs.delete(id);
  }
}

const createState = (scheduleId: string, doneUntilMs: number): ScheduleState => ({
  scheduleId,
  doneUntilMs,
  isPaused: false,
  runs: 0,
  tokens: 0,
  cost: 0,
});

const joinMissed = (first: MissedRuns, second: MissedRuns): MissedRuns => ({
  ...second,
  count: first.count + second.count,
  fromMs: first.fromMs,
  ...((first.isAtLeast || second.isAtLeast) && { isAtLeast: true }),
});
