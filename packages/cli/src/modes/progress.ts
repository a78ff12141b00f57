/** Shows in one line on standard error what the run is doing. */
import { systemClock } from "@tau/ai";
import { formatRetry, type SessionEvent } from "@tau/protocol";
import { getActivity, getCallSubject } from "@tau/protocol/surface";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import type { ShownSession } from "./shown-session.ts";
import { cleanLine, cutTo } from "../process/table.ts";
import { clearLine, showsProgress } from "../process/terminal-text.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;

/**
 * Returns a function that ends the progress. Without a terminal that can erase lines, only notices, retries and, with `verbose`, tool calls are
 * shown, a line each.
 */
export function showProgress(session: ShownSession, { quiet, verbose }: SessionOptions, io: Io): () => void {
  if (quiet) return () => {};
  for (const { message } of session.view.live.notices) io.err(`tau: ${message}\n`);
  const isAnimated = showsProgress(io);
  let activity = "waiting for the model";
  let since = systemClock.monotonic();
  let frame = 0;
  const draw = () => {
    // The user is reading a question, or typing the answer.
    if (session.view.live.approvals.length > 0) return;
    const seconds = Math.floor((systemClock.monotonic() - since) / 1_000);
    io.err(`${clearLine(io.env)}${frames[frame++ % frames.length]} ${activity}${seconds > 0 ? ` ${seconds} s` : ""}`);
  };
  const stop = session.onEvent((event) => {
    const next = getRunActivity(event);
    if (next !== undefined && next !== activity) {
      activity = next;
      since = systemClock.monotonic();
    }
    const line = formatLine(event, verbose);
    if (line !== undefined) io.err(`${isAnimated ? clearLine(io.env) : ""}tau: ${line}\n`);
  });
  const timer = isAnimated ? setInterval(draw, frameMs) : undefined;
  return () => {
    stop();
    clearInterval(timer);
    if (isAnimated) io.err(clearLine(io.env));
  };
}

/** Finds what the run does after an event, in one line; undefined if that does not change. Pure. */
export const getRunActivity = (event: SessionEvent): string | undefined => getActivity(event, formatCall);

function formatLine(event: SessionEvent, verbose: boolean): string | undefined {
  if (event.type === "notice") return event.message;
  if (event.type === "retry_scheduled") return formatRetry(event);
  if (event.type === "model_used") return event.cause === "route" ? undefined : event.reason;
  return verbose && event.type === "tool_execution_start" ? formatCall(event) : undefined;
}

const maxArgumentWidth = 60;

/** Formats a call as the tool and what it is about, on one line. */
function formatCall({ toolName, input }: Extract<SessionEvent, { type: "tool_execution_start" }>): string {
  return `${cleanLine(toolName)} ${cutTo(cleanLine(getCallSubject(input)), maxArgumentWidth)}`.trim();
}
