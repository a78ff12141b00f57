/**
 * JSON mode: the header of the session, every event, and the result, one JSON object per line. With `--output-format json`,
 * only the result, and notices on standard error as in print mode.
 */
import { roundCost } from "@tau/ai/internal";
import { type SessionEvent, type StatsData, toTermination, type View } from "@tau/protocol";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import { jsonLine } from "./json-line.ts";
import { showProgress } from "./progress.ts";
import type { PromptSession, Redactor, Shown } from "./send-prompt.ts";

export async function showAsJson(
  session: PromptSession,
  options: SessionOptions,
  { io, redactor }: { io: Io; redactor: Redactor },
): Promise<Shown> {
  const { shown } = session;
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
    showEnd: async ({ answer, end }, reason) => {
      if (reason !== undefined && !options.quiet) io.err(`tau: ${reason}\n`);
      const { terminationReason, detail = null } = toTermination(end);
      const after = await session.getStats();
      const { sessionFile = null } = after;
      const result = { sessionId: session.id, sessionFile, terminationReason, detail, turns };
      const error = "failure" in end ? { kind: end.failure.kind, message: end.failure.message } : undefined;
      write({ type: "result", answer, ...result, ...subtract(after, before), error });
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
