/**
 * JSON mode: the header of the session, every event, and the result, one JSON object per line. With `--output-format json`,
 * only the result.
 */
import type { AgentSession, SessionStats } from "@tau/harness";
import type { SessionEvent } from "@tau/protocol";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit-codes.ts";
import { jsonLine } from "./json-line.ts";
import { createSessionFrameRedactor } from "@tau/harness/policy";
import { getAnswer, runPrompts } from "./run-prompts.ts";

export const runJson = (options: SessionOptions, io: Io): Promise<ExitCode> =>
  runPrompts(options, io, async (hosted) => {
    const { session } = hosted;
    const isStream = options.mode === "json";
    const redactor = createSessionFrameRedactor(session);
    const write = (record: unknown) => io.out(redactor.redactLine(jsonLine(record)));
    if (isStream) write(session.sessionManager.getHeader());
    const before = await session.stats();
    let turns = 0;
    hosted.subscribe((item) => {
      if (item.kind === "event") {
        if (item.event.type === "turn_start") turns++;
        if (isStream) redactor.redactEvent(item.event).forEach((event) => write(withMessage(event, session)));
      } else if (isStream) for (const notice of item.view.live.notices) write({ type: "notice", ...notice });
    });
    return async (outcome, reason) => {
      if (reason !== undefined && !options.quiet) io.err(`tau: ${reason}\n`);
      const { terminationReason, detail = null, failure } = outcome;
      const { id: sessionId } = session.sessionManager;
      const sessionFile = session.sessionManager.getSessionFile() ?? null;
      const result = { sessionId, sessionFile, terminationReason, detail, turns };
      const spent = subtract(await session.stats(), before);
      const error = failure && { kind: failure.kind, message: failure.message };
      write({ type: "result", answer: getAnswer(outcome), ...result, ...spent, error });
    };
  });

/** As in pi, whose programs take the answer from the end of its message. */
const withMessage = (event: SessionEvent, { messages }: AgentSession): object =>
  event.type === "message_end"
    ? { ...event, message: messages.findLast((message) => message.role === "assistant") }
    : event;

/** What the run used: the session may have been there before. Pure. */
function subtract(after: SessionStats, before: SessionStats): { usage: SessionStats["tokens"]; cost: number } {
  const difference = (name: keyof SessionStats["tokens"]) => after.tokens[name] - before.tokens[name];
  const usage = {
    input: difference("input"),
    output: difference("output"),
    cacheRead: difference("cacheRead"),
    cacheWrite: difference("cacheWrite"),
    total: difference("total"),
  };
  return { usage, cost: after.cost - before.cost };
}
