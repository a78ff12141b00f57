/** How a task ended, and how that is written for the model. Pure. */
import { formatTokens } from "@tau/protocol/surface";

/** `cut`: it was in progress when the program or its session ended. */
export type TaskStatus = "done" | "failed" | "stopped" | "cut";

export interface TaskReport {
  readonly id: string;
  readonly description: string;
  readonly status: Exclude<TaskStatus, "cut">;
  /** The whole answer, or the part that fits. */
  readonly answer: string;
  /** Why it did not succeed. */
  readonly reason?: string;
  /** Has the whole answer, if that is longer. */
  readonly file?: string;
  readonly filesChanged: readonly string[];
  /** Where the changes of an isolated task are, if not in the files of the session. */
  readonly changes?: string;
  readonly tokens: number;
  /** US dollars. */
  readonly cost: number;
  readonly durationMs: number;
}

const maxAnswerLength = 8_000;
const minAnswerLength = 1_000;
const maxAnswersLength = 40_000;
const maxFilesShown = 20;
const maxReasonLength = 2_000;

/** The longest answer of each of so many tasks that are reported together. */
export const getAnswerLimit = (count: number): number =>
  Math.max(minAnswerLength, Math.min(maxAnswerLength, Math.floor(maxAnswersLength / Math.max(1, count))));

/** The beginning of a text, up to the end of a line if one is near. */
export function cutAnswer(text: string, maxLength: number): string {
  const cut = text.slice(0, maxLength).toWellFormed();
  const lineEnd = cut.lastIndexOf("\n");
  return lineEnd > maxLength / 2 ? cut.slice(0, lineEnd) : cut;
}

/** Describes the end of a task for the model: a line of facts, and the answer. */
export function formatReport(report: TaskReport): string {
  const { answer, reason, file, changes } = report;
  const parts = [
    `[${formatFacts(report)}]`,
    ...(reason === undefined ? [] : [reason.slice(0, maxReasonLength).toWellFormed()]),
    ...(changes === undefined ? [] : [changes]),
    ...(answer === "" ? [] : [answer]),
    ...(file === undefined ? [] : [`[The answer is longer. All of it is in ${file}]`]),
  ];
  return parts.join("\n");
}

/** Describes the end of a task in one line. */
export function formatFacts({ id, description, status, tokens, cost, durationMs, filesChanged }: TaskReport): string {
  const others = filesChanged.length - maxFilesShown;
  const files = [...filesChanged.slice(0, maxFilesShown), ...(others > 0 ? [`${others} more`] : [])];
  return [
    `Task ${id} (${description}): ${status}`,
    ...(tokens > 0 ? [`${formatTokens(tokens)} tokens`] : []),
    ...(cost > 0 ? [formatCost(cost)] : []),
    formatDuration(durationMs),
    ...(files.length > 0 ? [`changed ${files.join(", ")}`] : []),
  ].join(" · ");
}

const formatCost = (cost: number): string => `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`;

export function formatDuration(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
