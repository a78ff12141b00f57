/** Describes schedules and their runs for people. Pure. */
import type { ScheduleData, ScheduleRunData } from "@tau/protocol/gateway";
import { formatAddress } from "../channels/describe.ts";
import type { ScheduleState } from "./records.ts";
import { formatMissed } from "./run-text.ts";
import type { Schedule, ScheduleRun, ScheduleTime } from "./schedule.ts";

interface ScheduleFacts {
  readonly state: ScheduleState | undefined;
  readonly isBusy: boolean;
  readonly nextMs: number | undefined;
}

export function describeSchedule(schedule: Schedule, { state, isBusy, nextMs }: ScheduleFacts): ScheduleData {
  const { id, name, time, prompt, cwd, agent, model, rights, budget, conversation, sessionId } = schedule;
  const { policy, tools } = rights;
  return {
    id,
    name,
    when: formatScheduleTime(time),
    state: isBusy ? "running" : state?.isPaused ? "paused" : nextMs === undefined ? "over" : "waiting",
    ...(nextMs !== undefined && !state?.isPaused && { nextAt: toIso(nextMs) }),
    prompt,
    cwd,
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...(policy !== undefined && { policy }),
    ...(tools && { tools: [...tools] }),
    ...(budget?.tokens !== undefined && { maxTokens: budget.tokens }),
    ...(budget?.cost !== undefined && { maxCost: budget.cost }),
    ...(conversation && { channel: conversation.accountId, to: formatAddress(conversation.address) }),
    ...(sessionId !== undefined && { sessionId }),
    runs: state?.runs ?? 0,
    tokens: state?.tokens ?? 0,
    cost: state?.cost ?? 0,
  };
}

export function describeRun(run: ScheduleRun, name: string): ScheduleRunData {
  const { id, scheduleId, dueMs, cause, state, beganAt, endedAt, sessionId, missed, text, tokens, cost } = run;
  return {
    id,
    scheduleId,
    name,
    dueAt: toIso(dueMs),
    cause,
    state: state === "begun" ? "running" : state,
    beganAt: toIso(beganAt),
    ...(endedAt !== undefined && { endedAt: toIso(endedAt) }),
    ...(sessionId !== undefined && { sessionId }),
    ...(missed && { missed: missed.count, missedText: formatMissed(missed) }),
    ...(text !== undefined && { text }),
    ...(tokens !== undefined && { tokens }),
    ...(cost !== undefined && { cost }),
  };
}

const toIso = (atMs: number): string => new Date(atMs).toISOString();

function formatScheduleTime(time: ScheduleTime): string {
  switch (time.kind) {
    case "at":
      return `at ${toIso(time.atMs)}`;
    case "every":
      return `every ${formatDuration(time.everyMs)}`;
    case "cron":
      return `cron ${time.expression} (${time.timeZone})`;
  }
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

function formatDuration(durationMs: number): string {
  let restMs = durationMs;
  const parts = units.map(([unit, unitMs]) => {
    const count = Math.floor(restMs / unitMs);
    restMs -= count * unitMs;
    return count === 0 ? "" : `${count}${unit}`;
  });
  return parts.join("");
}
