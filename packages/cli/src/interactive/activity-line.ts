/** Draws the line above the editor that shows the current activity. Pure. */
import { formatRetry, type LiveView, type QueuedSummary } from "@tau/protocol";
import { listImages } from "./blocks/image-names.ts";
import { type Theme, toPlainLine, truncateToWidth, visibleWidth } from "@tau/tui";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export function getActivity(live: LiveView): string | undefined {
  if (live.compaction) return "Compacting";
  if (live.retry) return formatRetry(live.retry);
  if (!live.run) return undefined;
  if (live.approvals.length > 0) return "Waiting for your answer";
  const [tool, ...others] = live.tools;
  if (tool) return `Running ${tool.name}${others.length > 0 ? ` and ${others.length} more` : ""}`;
  if (!live.message) return "Working";
  const { text, thinking, calls } = live.message;
  return thinking !== "" && text === "" && calls.length === 0 ? "Thinking" : "Answering";
}

interface ActivityOptions {
  theme: Theme;
  width: number;
  seconds: number;
  /** Counts up while something is in progress. */
  frame: number;
  /** Drawn instead of our mark. Empty: nothing. */
  mark?: string;
  /** How the run is stopped; undefined if a dialog gets that key. */
  interruptKey: string | undefined;
}

export function drawActivity(
  activity: string,
  { theme, width, seconds, frame, interruptKey, mark }: ActivityOptions,
): string {
  const shown = mark ?? theme.fg("accent", frames[frame % frames.length] as string);
  const start = shown === "" ? " " : ` ${shown} `;
  const key = interruptKey === undefined ? "" : ` (${interruptKey} to stop)`;
  const end = `${seconds > 0 ? ` ${seconds} s` : ""}${key}`;
  // However long the rest is, it has to be seen how this is stopped.
  const room = Math.max(1, width - visibleWidth(end) - visibleWidth(start));
  const color = (text: string) => theme.fg("muted", text);
  return start + cut(toShortLine(activity), room, color) + color(end);
}

interface QueueOptions {
  theme: Theme;
  width: number;
  /** Messages that were sent and not confirmed. */
  late: readonly string[];
  /** How those that wait are taken back. */
  dequeueKey: string;
}

/** More messages than these are counted. */
const maxShownMessages = 5;

/** The messages that wait, oldest first. */
export function drawQueue({ steering, followUps }: LiveView, options: QueueOptions): string[] {
  const { theme, width, late, dequeueKey } = options;
  const color = (text: string) => theme.fg("dim", text);
  const draw = (messages: readonly (readonly [label: string, text: string])[]) => {
    const rows = messages.slice(0, maxShownMessages).map(([label, text]) => `${label}: ${toShortLine(text)}`);
    if (messages.length > rows.length) rows.push(`and ${messages.length - rows.length} more`);
    return rows.map((row) => cut(` ${row}`, width, color));
  };
  const waiting = [
    ...steering.map((message) => ["next", getWords(message)] as const),
    ...followUps.map((message) => ["later", getWords(message)] as const),
  ];
  return [
    ...draw(waiting),
    ...(waiting.length > 0 ? [color(` ${dequeueKey} to edit them`)] : []),
    ...draw(late.map((text) => ["being sent", text] as const)),
  ];
}

/** No line shows more characters than these. This is drawn ten times a second, and a message may have megabytes. */
const maxLineLength = 2_000;

const toShortLine = (text: string): string => toPlainLine(text.slice(0, maxLineLength));

const cut = (text: string, width: number, color: (text: string) => string): string =>
  truncateToWidth(color(text), width, color("…"));

/** An image that the text names is not named again. */
function getWords({ content }: QueuedSummary): string {
  if (typeof content === "string") return content;
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
  const images = listImages(content).flatMap(({ isNamed }) => (isNamed ? [] : ["[image]"]));
  return [text, ...images].filter((part) => part !== "").join(" ");
}
