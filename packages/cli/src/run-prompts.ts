/** Print and JSON mode: sends all prompts of the command line, then ends the program. */
import { resolve } from "node:path";
import type { Model } from "@tau/ai";
import { HarnessError, type RunOutcome } from "@tau/harness";
import type { HostedSession } from "@tau/harness/host";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { defaultRunMs, formatLimit } from "@tau/protocol";
import { firstRunText } from "./first-run.ts";
import { openHost } from "./open-host.ts";
import { readInput } from "./read-input.ts";

/** Called after the last prompt. `reason` says in one line why the run ended, unless the answer is all there is to say. */
export type ShowEnd = (outcome: RunOutcome, reason: string | undefined) => void;

/** `show` starts to show the session, before the first prompt. */
export async function runPrompts(
  options: SessionOptions,
  io: Io,
  show: (hosted: HostedSession) => ShowEnd,
): Promise<ExitCode> {
  const input = await readInput(io);
  const { messages, files } = options;
  if (input === undefined && files.length === 0 && messages.every((message) => message.trim() === "")) {
    throw new HarnessError("invalid_input", "The prompt is empty. Give a message, a file or standard input.");
  }
  const { host, sessionId } = await openHost(options, io);
  try {
    const hosted = host.get(sessionId);
    const { model, modelProblem } = hosted.session;
    if (!model) {
      io.err(modelProblem === undefined ? firstRunText : `tau: ${modelProblem}\n`);
      return exitCodes.failed;
    }
    const showEnd = show(hosted);
    let denied = 0;
    hosted.subscribe((item) => {
      if (item.kind === "event" && item.event.type === "tool_denied") denied++;
    });
    // What the user names is where the user is, also if the session works elsewhere.
    const isElsewhere = hosted.session.cwd !== io.cwd;
    const paths = isElsewhere ? files.map((path) => (path.startsWith("~") ? path : resolve(io.cwd, path))) : files;
    const outcome = await sendAll(hosted, { messages, files: paths }, input);
    // If the reader of the output has closed it, as `head` does, that is no interruption to report.
    showEnd(outcome, io.signal.reason === "SIGPIPE" ? undefined : formatEnd(outcome, denied, model));
    return toExitCode(outcome, denied);
  } finally {
    await host.dispose();
  }
}

/**
 * Sends each message when the one before it is answered. Files and standard input belong to the first. Blank messages, for
 * example from an unset variable in a script, are left out.
 */
async function sendAll(
  hosted: HostedSession,
  { messages, files }: Pick<SessionOptions, "messages" | "files">,
  input: string | undefined,
): Promise<RunOutcome> {
  const [first = "", ...others] = messages.filter((message) => message.trim() !== "");
  let outcome = await hosted.run(first, { files, ...(input !== undefined && { input }) });
  for (const message of others) {
    if (toExitCode(outcome, 0) !== exitCodes.done) break;
    outcome = await hosted.run(message, {});
  }
  return outcome;
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

/** Why the run ended; undefined if it is done. Pure. */
function formatEnd({ end }: RunOutcome, denied: number, { provider }: Pick<Model, "provider">): string | undefined {
  switch (end.kind) {
    case "done":
    case "stopped": {
      const calls = denied === 1 ? "1 tool call" : `${denied} tool calls`;
      return denied === 0 ? undefined : `the policy denied ${calls}. Allow them in the settings, or run tau elsewhere.`;
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
      return end.failure.kind === "auth" ? withLogin(end.failure.message, provider) : end.failure.message;
    default:
      return end satisfies never;
  }
}

/** Most messages name no command, because they are also for other programs. */
const withLogin = (message: string, provider: string): string =>
  message.includes("tau auth") ? message : `${message} To store a key: tau auth login ${provider}`;
