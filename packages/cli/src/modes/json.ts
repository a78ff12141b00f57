/**
 * JSON mode: the header of the session, every event, and the result, one JSON object per line. With `--output-format json`,
 * only the result, and notices on standard error as in print mode. With `--events pi`, the header and the records of pi.
 */
import { type OutputCheck, roundCost } from "@tau/ai/internal";
import { type RunEnd, type SessionEvent, type StatsData, toTermination, type View } from "@tau/protocol";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import { jsonLine } from "./json-line.ts";
import { UsageError } from "../process/errors.ts";
import { showProgress } from "./progress.ts";
import type { PromptSession, Redactor, Shown } from "./send-prompt.ts";

export async function showAsJson(
  session: PromptSession,
  options: SessionOptions,
  { io, redactor }: { io: Io; redactor: Redactor },
): Promise<Shown> {
  const { shown } = session;
  if (options.mode === "json" && (options.events ?? session.jsonEvents) === "pi")
    return await showAsPi(session, options, { io, redactor });
  const isStream = options.mode === "json";
  const write = (record: unknown) => io.out(jsonLine(record));
  if (isStream) write(await session.getHeader());
  const before = await session.getStats();
  let turns = 0;
  if (isStream) for (const notice of shown.view.live.notices) write({ type: "notice", ...notice });
  const stop = shown.onEvent((event) => {
    if (event.type === "turn_start") turns++;
    if (isStream) for (const redacted of redactor.redactEvent(event)) write(withMessage(redacted, shown.view));
  });
  const stopProgress = isStream ? undefined : showProgress(shown, options, io);
  return {
    stop() {
      stop();
      stopProgress?.();
    },
    showEnd: async ({ answer, end, output }, reason) => {
      if (reason !== undefined && !options.quiet) io.err(`tau: ${reason}\n`);
      const { terminationReason, detail = null } = toTermination(end);
      const after = await session.getStats();
      const { sessionFile = null } = after;
      const result = { sessionId: session.id, sessionFile, terminationReason, detail, turns };
      const value = output?.kind === "fits" ? { output: output.value } : {};
      write({ type: "result", answer, ...value, ...result, ...subtract(after, before), error: toError(end, output) });
    },
  };
}

function toError(end: RunEnd, output: OutputCheck | undefined): { kind: string; message: string } | undefined {
  if ("failure" in end) return { kind: end.failure.kind, message: end.failure.message };
  return output?.kind === "unfit" ? { kind: "unfit_output", message: output.problem } : undefined;
}

/** The events that pi documents. What tau alone reports is left out. */
const piEventTypes: ReadonlySet<string> = new Set([
  "agent_start",
  "agent_end",
  "agent_settled",
  "turn_start",
  "turn_end",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "queue_update",
  "entry_appended",
  "session_info_changed",
  "thinking_level_changed",
  "compaction_start",
  "compaction_end",
  "auto_retry_start",
  "auto_retry_end",
]);

/** Writes the header and pi's records. There is no result: why the run ended is on standard error. */
async function showAsPi(
  session: PromptSession,
  options: SessionOptions,
  { io, redactor }: { io: Io; redactor: Redactor },
): Promise<Shown> {
  if (!session.followPiEvents)
    throw new UsageError("arguments", "--events pi is for a session of this program. Leave out --gateway.");
  const write = (record: unknown) => io.out(jsonLine(record));
  write(await session.getHeader());
  if (!options.quiet) for (const { message } of session.shown.view.live.notices) io.err(`tau: ${message}\n`);
  const events = await session.followPiEvents((record) => {
    if (!piEventTypes.has(record.type)) return;
    for (const redacted of redactor.redactEvent(record as SessionEvent)) write(redacted);
  });
  return {
    stop() {
      events.settle();
      events.stop();
    },
    showEnd(_end, reason) {
      if (reason !== undefined && !options.quiet) io.err(`tau: ${reason}\n`);
    },
  };
}

/**
 * Adds the message to the event, because pi's programs take the answer from the end of its message. It is in the log by
 * then.
 */
function withMessage(event: SessionEvent, { log }: View): object {
  if (event.type !== "message_end") return event;
  const entry = log.entries.findLast((entry) => entry.type === "message" && entry.message.role === "assistant");
  return { ...event, ...(entry?.type === "message" && { message: entry.message }) };
}

type Spent = Pick<StatsData, "tokens" | "cost">;

/** Computes what the run used: the session may have been there before. Pure. */
function subtract(after: Spent, before: Spent): { usage: Spent["tokens"]; cost: number } {
  const difference = (name: keyof Spent["tokens"]) => after.tokens[name] - before.tokens[name];
  const usage = {
    input: difference("input"),
    output: difference("output"),
    cacheRead: difference("cacheRead"),
    cacheWrite: difference("cacheWrite"),
    total: difference("total"),
  };
  return { usage, cost: roundCost(after.cost - before.cost) };
}
