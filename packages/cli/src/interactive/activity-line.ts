/** What is going on, above the editor. Pure. */
import type { LiveView, QueuedSummary } from "@tau/protocol";
import { type Theme, toPlainLine, truncateToWidth, visibleWidth } from "@tau/tui";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export function getActivity(live: LiveView): string | undefined {
  if (live.compaction) return "Compacting";
  if (live.retry)
    return `Waiting to try again (${live.retry.attempt} of ${live.retry.maxAttempts}): ${live.retry.reason}`;
  if (!live.run) return undefined;
  if (live.approvals.length > 0) return "Waiting for your answer";
  const [tool, ...others] = live.tools;
  if (tool) return `Running ${tool.name}${others.length > 0 ? ` and ${others.length} more` : ""}`;
  return live.message ? "Answering" : "Working";
}

export interface ActivityOptions {
  theme: Theme;
  width: number;
  seconds: number;
  /** Counts up while something goes on. */
  frame: number;
  /** What is drawn instead of ours. Empty: nothing. */
  mark?: string;
  /** How the run is stopped. */
  interruptKey: string;
}

export function drawActivity(
  activity: string,
  { theme, width, seconds, frame, interruptKey, mark }: ActivityOptions,
): string {
  const shown = mark ?? theme.fg("accent", frames[frame % frames.length] as string);
  const start = shown === "" ? " " : ` ${shown} `;
  const end = `${seconds > 0 ? ` ${seconds} s` : ""} (${interruptKey} to stop)`;
  // However long the rest is, it has to be seen how this is stopped.
  const text = truncateToWidth(
    toPlainLine(activity),
    Math.max(1, width - visibleWidth(end) - visibleWidth(start)),
    "…",
  );
  return `${start}${theme.fg("muted", text + end)}`;
}

export interface QueueOptions {
  theme: Theme;
  /** Messages that were sent and not confirmed. */
  late: readonly string[];
  /** How those that wait are taken back. */
  dequeueKey: string;
}

/** The messages that wait, oldest first. */
export function drawQueue({ steering, followUps }: LiveView, { theme, late, dequeueKey }: QueueOptions): string[] {
  const line = (label: string, text: string) => theme.fg("dim", ` ${label}: ${toPlainLine(text)}`);
  return [
    ...steering.map((message) => line("next", getWords(message))),
    ...followUps.map((message) => line("later", getWords(message))),
    ...(steering.length + followUps.length > 0 ? [theme.fg("dim", ` ${dequeueKey} to edit them`)] : []),
    ...late.map((message) => line("being sent", message)),
  ];
}

const getWords = ({ content }: QueuedSummary): string =>
  typeof content === "string"
    ? content
    : content.map((block) => (block.type === "text" ? block.text : "[image]")).join(" ");
