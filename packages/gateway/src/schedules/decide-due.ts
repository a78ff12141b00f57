/** Decides which schedules are due. Pure: `schedules.ts` acts on it. */
import type { MissedRuns } from "./schedule.ts";

/** Facts about a schedule that the decision needs. */
export interface DueFacts {
  readonly id: string;
  /** Due times up to here are dealt with: each had a run, or was reported as missed. */
  readonly doneUntilMs: number;
  readonly isPaused: boolean;
  /** Whether its last run is not over. */
  readonly isBusy: boolean;
  /** See `Schedule`. */
  readonly leavesOutMissed: boolean;
}

/** After a step is recorded, all due times up to `untilMs` are dealt with. */
export type DueStep =
  | {
      readonly kind: "run";
      readonly scheduleId: string;
      readonly dueMs: number;
      readonly cause: "due" | "late";
      readonly untilMs: number;
      /** Due times besides, which have no run. */
      readonly missed?: MissedRuns;
    }
  | { readonly kind: "missed"; readonly scheduleId: string; readonly untilMs: number; readonly missed: MissedRuns };

interface Due {
  readonly steps: readonly DueStep[];
  /** When something is due next. Undefined: nothing ever is. */
  readonly nextMs: number | undefined;
}

/** The first due time of a schedule after a moment. Undefined: there is none. */
type GetNext = (scheduleId: string, afterMs: number) => number | undefined;

/** A run that begins later than this is late: the gateway was stopped, or the machine slept. */
export const maxDelayMs = 60_000;

/** More due times are not counted: to find one takes a fifth of a millisecond. */
const maxCounted = 100;

export function decideDue(schedules: readonly DueFacts[], nowMs: number, getNext: GetNext): Due {
  const steps: DueStep[] = [];
  let nextMs: number | undefined;
  for (const schedule of schedules) {
    if (schedule.isPaused) continue;
    const { dueTimes, isCut } = listDue(schedule, nowMs, getNext);
    const step = decideStep(schedule, { dueTimes, isCut, nowMs });
    if (step) steps.push(step);
    const next = getNext(schedule.id, Math.max(nowMs, schedule.doneUntilMs));
    if (next !== undefined) nextMs = Math.min(nextMs ?? next, next);
  }
  return { steps, nextMs };
}

/** A clock that was set back finds nothing: those times are dealt with already. */
function listDue({ id, doneUntilMs }: DueFacts, nowMs: number, getNext: GetNext) {
  const dueTimes: number[] = [];
  let next = getNext(id, doneUntilMs);
  while (next !== undefined && next <= nowMs && dueTimes.length < maxCounted) {
    dueTimes.push(next);
    next = getNext(id, next);
  }
  return { dueTimes, isCut: next !== undefined && next <= nowMs };
}

function decideStep(
  { id: scheduleId, isBusy, leavesOutMissed }: DueFacts,
  { dueTimes, isCut, nowMs }: { dueTimes: readonly number[]; isCut: boolean; nowMs: number },
): DueStep | undefined {
  const last = dueTimes.at(-1);
  if (last === undefined) return undefined;
  const untilMs = nowMs;
  if (isBusy) return { kind: "missed", scheduleId, untilMs, missed: toMissed(dueTimes, isCut, "busy") };
  const isLate = isCut || nowMs - last > maxDelayMs;
  if (isLate && leavesOutMissed) {
    return { kind: "missed", scheduleId, untilMs, missed: toMissed(dueTimes, isCut, "stopped") };
  }
  const others = dueTimes.slice(0, -1);
  return {
    kind: "run",
    scheduleId,
    dueMs: last,
    cause: isLate ? "late" : "due",
    untilMs,
    ...(others.length > 0 && { missed: toMissed(others, isCut, "stopped") }),
  };
}

const toMissed = (times: readonly number[], isAtLeast: boolean, reason: MissedRuns["reason"]): MissedRuns => ({
  count: times.length,
  ...(isAtLeast && { isAtLeast }),
  fromMs: times[0]!,
  toMs: times.at(-1)!,
  reason,
});
