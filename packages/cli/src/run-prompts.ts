/** Print and JSON mode: sends the prompt of the command line, then ends the program. */
import { resolve } from "node:path";
import { type AgentSession, HarnessError, isSilent, type RunOutcome } from "@tau/harness";
import { getMessageText, type HostedSession } from "@tau/harness/host";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { logAdvice } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { defaultRunMs, formatLimit } from "@tau/protocol";
import { firstRunText } from "./first-run.ts";
import { canAnswer } from "./open-directory.ts";
import { openHost } from "./open-host.ts";
import { readInput } from "./read-input.ts";
import { toShownSession } from "./shown-session.ts";

/** Called when the run has ended. `reason` says why, unless the answer is all there is to say. */
export type ShowEnd = (outcome: RunOutcome, reason: string | undefined) => Promise<void> | void;

/** `show` starts to show the session, before the prompt. */
export async function runPrompts(
  options: SessionOptions,
  io: Io,
  show: (hosted: HostedSession) => Promise<ShowEnd> | ShowEnd,
): Promise<ExitCode> {
  const input = await readInput(io);
  // An option of an extension may change what the prompt is.
  if (!options.unknownFlags) mustHavePrompt(options, input);
  const isAttended = canAnswer(options, io);
  const opened = await openHost(options, io, { ask: { isAttended: () => isAttended } });
  const { host, sessionId } = opened;
  try {
    mustHavePrompt(opened.options, input);
    const { message, files } = opened.options;
    const hosted = host.get(sessionId);
    const { model, modelProblem } = hosted.session;
    if (!model) {
      for (const { message } of hosted.view.live.notices) io.err(`tau: ${message}\n`);
      io.err(modelProblem === undefined ? firstRunText : `tau: ${modelProblem}\n`);
      return exitCodes.failed;
    }
    const showEnd = await show(hosted);
    if (hosted.session.extensions) await attachExtensions(hosted.session, options.mode, io);
    if (isAttended) (await import("./answer-approvals.ts")).answerApprovals(toShownSession(hosted), io);
    const denied: string[] = [];
    hosted.subscribe((item) => {
      if (item.kind === "event" && item.event.type === "tool_denied") denied.push(item.event.advice);
    });
    // What the user names is where the user is, also if the session works elsewhere.
    const isElsewhere = hosted.session.cwd !== io.cwd;
    const paths = isElsewhere ? files.map((path) => (path.startsWith("~") ? path : resolve(io.cwd, path))) : files;
    const before = hosted.session.messages.length;
    const prompt = { files: paths, ...(input !== undefined && { input }), source: "interactive" } as const;
    const outcome = (await hosted.run(message, prompt)) ?? (await waitForHandled(hosted.session, before));
    // If the reader of the output has closed it, as `head` does, that is no interruption to report.
    await showEnd(outcome, io.signal.reason === "SIGPIPE" ? undefined : formatEnd(outcome, denied));
    return toExitCode(outcome, denied.length);
  } finally {
    await host.dispose();
  }
}

export function mustHavePrompt({ message, files }: SessionOptions, input: string | undefined): void {
  if (input !== undefined || files.length > 0 || message !== "") return;
  throw new HarnessError("invalid_input", "The prompt is empty. Give a message, a file or standard input.");
}

/** Starts the extensions: nobody can be asked. What they say is not the answer, so it goes to standard error. */
async function attachExtensions(session: AgentSession, mode: SessionOptions["mode"], io: Io): Promise<void> {
  const { noUi } = await import("@tau/harness/extensions");
  const ui = { ...noUi, notify: (message: string) => io.err(`tau: ${message}\n`) };
  await session.attachSurface({ mode: mode === "text" ? "print" : "json", ui });
}

/**
 * After a prompt that an extension dealt with. It may have started a run, whose answer is that of the prompt then. `before`
 * is how many messages there were.
 */
async function waitForHandled(session: AgentSession, before: number): Promise<RunOutcome> {
  await session.waitForIdle();
  const messages = session.messages.slice(before);
  const answer = messages.findLast((message) => message.role === "assistant");
  const end = { kind: "done" } as const;
  const nothing = { detail: undefined, failure: undefined, isSteered: false };
  return { end, terminationReason: "no_tool_calls", ...nothing, answer, messages };
}

/** `denied` is the number of denied tool calls. A run that a limit ended has failed. Pure. */
export function toExitCode({ end }: RunOutcome, denied: number): ExitCode {
  switch (end.kind) {
    case "done":
    case "stopped":
      return denied > 0 ? exitCodes.denied : exitCodes.done;
    case "aborted":
    case "disconnected":
      return exitCodes.interrupted;
    case "length":
    case "budget":
    case "timeout":
    case "idle":
    case "failed":
      return exitCodes.failed;
    default:
      return end satisfies never;
  }
}

/** What is printed of a run. Empty if it was interrupted or failed: text before a tool call is not an answer. Pure. */
export function getAnswer({ end, answer, messages }: RunOutcome): string {
  const isOver = end.kind === "done" || end.kind === "stopped" || end.kind === "length" || end.kind === "budget";
  if (!isOver) return "";
  if (!answer) return messages.flatMap(getShownText).join("\n");
  if (isSilent(answer)) return "";
  if (answer.content.some(({ type }) => type === "toolCall")) return "";
  return answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** A message that an extension shows instead of an answer. */
const getShownText = (message: RunOutcome["messages"][number]): string[] =>
  message.role === "custom" && message.display ? [getMessageText(message)] : [];

/** Why the run ended; undefined if it is done and has an answer. `denied` has the advice about each denied call. Pure. */
function formatEnd(outcome: RunOutcome, denied: readonly string[]) {
  const { end } = outcome;
  switch (end.kind) {
    case "done":
    case "stopped": {
      if (denied.length > 0) return formatDenied(denied);
      const isEmpty = outcome.answer && !isSilent(outcome.answer) && getAnswer(outcome).trim() === "";
      return end.kind === "done" && isEmpty ? "the answer is empty." : undefined;
    }
    case "length":
      return "the answer reached its length limit.";
    case "budget":
      return `the run reached its limit of ${end.limit}.`;
    case "timeout":
      return `the run was stopped after ${formatLimit(end.limitMs ?? defaultRunMs)}.`;
    case "aborted":
    case "disconnected":
      return "interrupted.";
    case "idle":
    case "failed":
      if (end.kind === "failed" && end.cause === "log") return `${end.failure.message} ${logAdvice}`;
      return end.failure.message;
    default:
      return end satisfies never;
  }
}

const maxAdvice = 5;

export function formatDenied(denied: readonly string[]): string {
  const advice = [...new Set(denied)];
  const more = advice.length > maxAdvice ? `\n  and ${advice.length - maxAdvice} more` : "";
  const lines = advice.slice(0, maxAdvice).map((line) => `\n  ${line}`);
  return `${denied.length === 1 ? "a tool call was" : `${denied.length} tool calls were`} denied:${lines.join("")}${more}`;
}
