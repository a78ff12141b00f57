/** Texts that the agent reads at the beginning of a run, and that people read about runs. Pure. */
import type { MissedRuns, Schedule, ScheduleRun } from "./schedule.ts";

const formatTime = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");

/** The message that begins a run. */
export function formatPrompt(
  { name, prompt, conversation }: Pick<Schedule, "name" | "prompt" | "conversation">,
  { dueMs, cause, missed }: Pick<ScheduleRun, "dueMs" | "cause" | "missed">,
): string {
  const due = cause === "person" ? "which somebody has started now" : `due at ${formatTime(dueMs)}`;
  const lines = [
    `This is a run of the schedule ${JSON.stringify(name)}, ${due}. Nobody is there to answer questions.`,
    ...(cause === "late" ? ["It is late, because the gateway did not run then."] : []),
    ...(missed ? [`Before it, ${formatMissed(missed)}; this run stands for all of them.`] : []),
    conversation
      ? "Your answer is sent to a conversation. If nobody needs to read it, answer only __SILENT__."
      : "Your answer is kept in this session.",
  ];
  return `${lines.join("\n")}\n\n${prompt}`;
}

export function formatMissed({ count, isAtLeast, fromMs, toMs, reason }: MissedRuns): string {
  const runs = isAtLeast ? `at least ${count} runs were` : count === 1 ? "1 run was" : `${count} runs were`;
  const when = fromMs === toMs ? `at ${formatTime(fromMs)}` : `from ${formatTime(fromMs)} to ${formatTime(toMs)}`;
  const why = reason === "busy" ? "because the run before was not over" : "because the gateway did not run";
  return `${runs} missed, ${when}, ${why}`;
}

/** Tells people in the conversation which runs were missed. Undefined if none was. */
export function formatMissedReport(
  name: string,
  { cause, dueMs, missed }: Pick<ScheduleRun, "cause" | "dueMs" | "missed">,
): string | undefined {
  if (missed?.reason === "busy" || (cause !== "late" && !missed)) return undefined;
  const parts = [
    ...(missed ? [formatMissed(missed)] : []),
    ...(cause === "late" ? [`the run of ${formatTime(dueMs)} is made up now`] : []),
  ];
  return `Schedule ${JSON.stringify(name)}: ${parts.join("; ")}.`;
}

/** Tells people in a conversation that a run failed. `reason` is undefined if it is not for them. */
export const formatFailure = (name: string, reason: string | undefined): string =>
  reason === undefined
    ? `The run of the schedule ${JSON.stringify(name)} failed. Whoever runs me can see why.`
    : `The run of the schedule ${JSON.stringify(name)} failed: ${reason}`;

export const cutText = "The gateway ended during this run. It is not repeated.";
