/** What print and JSON mode have in common: everything that was given is said, and then the program ends. */
import type { Model } from "@tau/ai";
import { type AgentSession, HarnessError, type PromptOutcome, type RunOutcome } from "@tau/harness";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { firstRunText } from "./first-run.ts";
import { openSession } from "./open-session.ts";
import { readInput } from "./read-input.ts";

/** How such a surface shows a session. */
export interface Showing {
  /** Called when everything was said. `said` is how the run ended, in one line, where that is worth one. */
  end: (outcome: RunOutcome, said: string | undefined) => void | Promise<void>;
}

export async function sayAndEnd(
  options: SessionOptions,
  io: Io,
  show: (session: AgentSession) => Showing,
): Promise<ExitCode> {
  const input = await readInput(io);
  const { messages, files } = options;
  if (input === undefined && files.length === 0 && messages.every((message) => message.trim() === "")) {
    throw new HarnessError("invalid_input", "Nothing was said. Give a message, a file or standard input.");
  }
  const session = await openSession(options, io);
  try {
    if (!session.model) {
      io.err(session.modelProblem === undefined ? firstRunText() : `tau: ${session.modelProblem}\n`);
      return exitCodes.failed;
    }
    const denied = watchDenials(session);
    const showing = show(session);
    const outcome = await sayAll(session, options, input);
    // Whoever has stopped reading, as `head` does, has interrupted nothing that they would want to hear of.
    const said = io.signal.reason === "SIGPIPE" ? undefined : formatEnd(outcome, denied(), session.model);
    await showing.end(outcome, said);
    return toExitCode(outcome, denied());
  } finally {
    await session.dispose();
  }
}

/**
 * Each message is said when the one before it is answered. Files and standard input go with the first. One that is empty,
 * as a script's unset variable is, says nothing.
 */
async function sayAll(
  session: AgentSession,
  { messages, files }: SessionOptions,
  input: string | undefined,
): Promise<RunOutcome> {
  const [first = "", ...others] = messages.filter((message) => message.trim() !== "");
  let outcome = ran(await session.prompt(first, { files, ...(input !== undefined && { input }) }));
  for (const message of others) {
    if (outcome.terminationReason !== "no_tool_calls") break;
    outcome = ran(await session.prompt(message));
  }
  return outcome;
}

function ran(outcome: PromptOutcome): RunOutcome {
  if (outcome.kind === "ran") return outcome;
  throw new Error("The prompt waits for a run that nobody started.");
}

/** Counts the calls that the policy did not allow. */
function watchDenials(session: AgentSession): () => number {
  let denied = 0;
  session.onSessionEvent((event) => {
    if (event.type === "tool_denied") denied++;
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
