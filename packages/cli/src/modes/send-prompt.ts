/** Print and JSON mode: sends the prompt of the command line, and shows how it ended. */
import { resolve } from "node:path";
import type { JsonSchema } from "@tau/ai";
import type { CommandParams, SessionEvent, SessionHeader, StatsData } from "@tau/protocol";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import { formatEnd, type PromptResult, toExitCode, withForm } from "./prompt-end.ts";
import type { ShownSession } from "./shown-session.ts";
import { UsageError } from "../process/errors.ts";
import { writeAnswer } from "./answer-file.ts";

type Prompt = CommandParams<"execute"> & {
  /** The form of the answer. Only for a session of this process. */
  output?: JsonSchema;
};

/** A session that a prompt is sent to: in this process, or in a gateway. */
export interface PromptSession {
  readonly id: string;
  readonly shown: ShownSession;
  getHeader(): Promise<SessionHeader>;
  getStats(): Promise<Pick<StatsData, "tokens" | "cost" | "sessionFile">>;
  /** Creates what removes keys from what is written. */
  createRedactor(): Promise<Redactor>;
  /** Starts what the session has of extensions. What they are denied then is not the prompt's. */
  start(): Promise<void>;
  /** Sends what pi would write of the session from now on. Absent: the session is in another process, which does not. */
  followPiEvents?(send: (record: { type: string }) => void): Promise<{ settle(): void; stop(): void }>;
  /** The setting `json.events`. */
  readonly jsonEvents: "tau" | "pi";
  /** Resolves when the run is over, however it ended. */
  run(prompt: Prompt): Promise<PromptResult>;
}

export interface Redactor {
  redactEvent(event: SessionEvent): readonly SessionEvent[];
  redactLine(line: string): string;
}

/** Shows a session from now on. */
export interface Shown {
  /** Called when the run is over, also if it could not begin. */
  stop(): void;
  /** Called after that. `reason` says why the run ended, unless the answer is all there is to say. */
  showEnd(end: PromptResult, reason: string | undefined): Promise<void> | void;
}

interface PromptContext {
  options: SessionOptions;
  io: Io;
  /** Whether the user can be asked. */
  isAttended: boolean;
}

export async function sendPrompt(session: PromptSession, prompt: Prompt, context: PromptContext): Promise<ExitCode> {
  const { options, io, isAttended } = context;
  const redactor = await session.createRedactor();
  const redacting = withoutKeys(io, redactor);
  const shown =
    options.mode === "text"
      ? (await import("./print.ts")).showAsText(session, options, redacting)
      : await (await import("./json.ts")).showAsJson(session, options, { io: redacting, redactor });
  const denied: string[] = [];
  const run = async () => {
    await session.start();
    if (isAttended) (await import("./answer-approvals.ts")).answerApprovals(session.shown, io);
    session.shown.onEvent((event) => void (event.type === "tool_denied" && denied.push(event.advice)));
    return await session.run(prompt);
  };
  const end = withForm(await run().finally(() => shown.stop()), prompt.output !== undefined);
  // Before the end is shown: who reads the result may look for the file.
  if (options.output !== undefined) await writeAnswer(resolve(io.cwd, options.output), end, redactor);
  // If the reader of the output has closed it, as `head` does, that is no interruption to report.
  await shown.showEnd(end, io.signal.reason === "SIGPIPE" ? undefined : formatEnd(end, denied));
  return toExitCode(end, denied.length);
}

/** Everything that is shown of a run goes through this, on both streams. */
function withoutKeys(io: Io, { redactLine }: Redactor): Io {
  const clean = (content: string | Uint8Array) => (typeof content === "string" ? redactLine(content) : content);
  return { ...io, out: (content) => io.out(clean(content)), err: (content) => io.err(clean(content)) };
}

export function mustHavePrompt({ message, files }: SessionOptions, input: string | undefined): void {
  if (input !== undefined || files.length > 0 || message !== "") return;
  throw new UsageError("invalid_input", "The prompt is empty. Give a message, a file or standard input.");
}

/** Resolves paths where the user is, also if the session works elsewhere. Pure. */
export const toAbsolute = (paths: readonly string[], cwd: string): string[] =>
  paths.map((path) => (path.startsWith("~") ? path : resolve(cwd, path)));
