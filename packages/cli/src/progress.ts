/** One line on standard error that says what goes on, for a person who waits. */
import { systemClock } from "@tau/ai";
import type { HostedSession } from "@tau/harness/host";
import type { SessionEvent } from "@tau/protocol";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;
const clearLine = "\r\u001b[2K";

export interface Progress {
  end(): void;
}

/** Nothing moves where nobody looks: without a terminal only notices and, with `verbose`, calls are told. */
export function showProgress(hosted: HostedSession, { quiet, verbose }: SessionOptions, io: Io): Progress {
  if (quiet) return { end: () => {} };
  for (const { message } of hosted.view.live.notices) io.err(`tau: ${message}\n`);
  const moves = io.terminal.err;
  let doing = "waiting for the model";
  let since = systemClock.monotonic();
  let frame = 0;
  const draw = () => {
    const seconds = Math.floor((systemClock.monotonic() - since) / 1_000);
    io.err(`${clearLine}${frames[frame++ % frames.length]} ${doing}${seconds > 0 ? ` ${seconds} s` : ""}`);
  };
  const say = (line: string) => io.err(`${moves ? clearLine : ""}${line}\n`);
  const stop = hosted.subscribe((item) => {
    if (item.kind !== "event") return;
    const { event } = item;
    const next = doingAfter(event);
    if (next !== undefined && next !== doing) {
      doing = next;
      since = systemClock.monotonic();
    }
    const line = formatLine(event, verbose);
    if (line !== undefined) say(line);
  });
  const timer = moves ? setInterval(draw, frameMs) : undefined;
  return {
    end() {
      stop();
      if (timer === undefined) return;
      clearInterval(timer);
      io.err(clearLine);
    },
  };
}

/** What goes on after an event; undefined when that stays as it was. */
export function doingAfter(event: SessionEvent): string | undefined {
  switch (event.type) {
    case "turn_start":
      return "waiting for the model";
    case "text_delta":
      return "answering";
    case "thinking_delta":
      return "thinking";
    case "tool_execution_start":
      return `${event.toolName} ${brief(event.input)}`.trim();
    case "retry_scheduled":
      return `waiting to try again (${event.attempt} of ${event.maxAttempts})`;
    default:
      return undefined;
  }
}

function formatLine(event: SessionEvent, verbose: boolean): string | undefined {
  if (event.type === "notice") return `tau: ${event.message}`;
  if (event.type === "retry_scheduled") {
    return `tau: ${event.reason} Trying again in ${Math.ceil(event.delayMs / 1_000)} s (${event.attempt} of ${event.maxAttempts}).`;
  }
  if (verbose && event.type === "tool_execution_start") return `tau: ${event.toolName} ${brief(event.input)}`;
  return undefined;
}

const maxCharacters = 60;

/** The argument that says most, on one line. */
function brief(input: Record<string, unknown>): string {
  const value = input["command"] ?? input["path"] ?? input["pattern"] ?? Object.values(input)[0];
  if (typeof value !== "string") return "";
  // oxlint-disable-next-line no-control-regex -- what a model sends must not move the cursor
  const line = value.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1)}…` : line;
}
