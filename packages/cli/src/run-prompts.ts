/** What print and JSON mode have in common: all prompts are sent, and then the program ends. */
import type { Model } from "@tau/ai";
import { HarnessError, type RunOutcome } from "@tau/harness";
import type { HostedSession } from "@tau/harness/host";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { firstRunText } from "./first-run.ts";
import { openHost } from "./open-host.ts";
import { readInput } from "./read-input.ts";

/** How such a surface shows a session. */
export interface Presentation {
  /** Called when all prompts were answered. `ending` is how the run ended, in one line, where that is worth one. */
  end: (outcome: RunOutcome, ending: string | undefined) => void | Promise<void>;
}

export async function sayAndEnd(
  options: SessionOptions,
  io: Io,
  present: (hosted: HostedSession) => Presentation,
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
      io.err(modelProblem === undefined ? firstRunText() : `tau: ${modelProblem}\n`);
      return exitCodes.failed;
    }
    const presentation = present(hosted);
    const getDenied = countDenied(hosted);
    const outcome = await sendAll(hosted, options, input);
    // A reader that stopped reading, as `head` does, does not want to hear of an interruption.
    const ending = io.signal.reason === "SIGPIPE" ? undefined : formatEnd(outcome, getDenied(), model);
    await presentation.end(outcome, ending);
    return toExitCode(outcome, getDenied());
  } finally {
    await host.dispose();
  }
}

/**
 * Each message is sent when the one before it is answered. Files and standard input go with the first. An empty message,
 * as from an unset variable in a script, is left out.
 */
async function sendAll(
  hosted: HostedSession,
  { messages, files }: SessionOptions,
  input: string | undefined,
): Promise<RunOutcome> {
  const [first = "", ...others] = messages.filter((message) => message.trim() !== "");
  let outcome = await hosted.run(first, { files, ...(input !== undefined && { input }) });
  for (const message of others) {
    if (outcome.terminationReason !== "no_tool_calls") break;
    outcome = await hosted.run(message, {});
  }
  return outcome;
}

/** Counts the calls that were not allowed, in all runs. */
function countDenied(hosted: HostedSession): () => number {
  let denied = 0;
  hosted.subscribe((item) => {
    if (item.kind === "event" && item.event.type === "tool_denied") denied++;
  });
  return () => denied;
}

/** What scripts are told. A run that a budget or the length of an answer ended is not done. */
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

/** How the run ended, in one line, where the answer does not say it. */
function formatEnd({ end }: RunOutcome, denied: number, { provider }: Pick<Model, "provider">): string | undefined {
  switch (end.kind) {
    case "done":
    case "stopped":
      return denied === 0 ? undefined : formatDenied(denied);
    case "length":
      return "the answer reached its length limit.";
    case "budget":
      return `the run was ended by its limit of ${end.limit}.`;
    case "timeout":
      return "the run was ended after 48 hours.";
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

const formatDenied = (count: number): string =>
  `${count} ${count === 1 ? "call was" : "calls were"} not allowed by the policy. Allow what is needed, or work where it is.`;

/** The message is for programs too, and names no commands. */
const withLogin = (message: string, provider: string): string =>
  message.includes("tau auth") ? message : `${message} To store a key, or another: tau auth login ${provider}`;
