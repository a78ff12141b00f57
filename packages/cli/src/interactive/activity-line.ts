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

/** The messages that wait, oldest first. */
export function drawQueue({ steering, followUps }: LiveView, theme: Theme, dequeueKey: string): string[] {
  if (steering.length + followUps.length === 0) return [];
  const line = (label: string, { content }: QueuedSummary) => {
    const texts =
      typeof content === "string"
        ? [content]
        : content.map((block) => (block.type === "text" ? block.text : "[image]"));
    return theme.fg("dim", ` ${label}: ${toPlainLine(texts.join(" "))}`);
  };
  return [
    ...steering.map((message) => line("next", message)),
    ...followUps.map((message) => line("later", message)),
    theme.fg("dim", ` ${dequeueKey} to edit them`),
  ];
}
