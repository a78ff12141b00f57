/** Commands that the user runs (`!cmd`), with the user's own authority: the policy does not judge them. */
import type { BashResult } from "@tau/extensions/internal";
import type { AgentTool } from "@tau/agent";
import { type Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { type BashExecutionMessage, HarnessError } from "@tau/protocol";
import type { BashDetails } from "@tau/tools";
import type { BashOperations, ExtensionResult, ExtensionHooks } from "@tau/extensions";
import { getText } from "../run/translate.ts";
import { customTypes } from "../session/entry.ts";
import type { Session } from "../session/session.ts";
import type { Activity } from "./activity.ts";
import type { Notices } from "./notices.ts";
import type { Transcript } from "../run/transcript.ts";

export interface BashOptions {
  /** Hides the command from the model. Default false. */
  excludeFromContext?: boolean;
  onOutput?: (text: string) => void;
}

interface UserBashParts {
  /** Returns the tool that the model has too. */
  getTool: () => AgentTool;
  getExtensions: () => ExtensionHooks | undefined;
  cwd: string;
  session: Session;
  transcript: Transcript;
  activity: Activity;
  notices: Notices;
  clock: Clock;
  /** Reads the stored keys again, which a command may have renewed and printed. */
  readKeys: () => Promise<unknown>;
}

/** Runs one command at a time. */
export class UserBash {
  readonly #parts: UserBashParts;
  #running: AbortController | undefined;

  constructor(parts: UserBashParts) {
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  abort(): void {
    this.#running?.abort();
  }

  /**
   * Resolves when the command is in the log, also when it fails: it then has an output and an exit code. Rejects if it
   * could not be started, and with `write_failed` if it cannot be written.
   */
  async run(command: string, options: BashOptions): Promise<BashResult> {
    const { cwd, session, notices } = this.#parts;
    const { excludeFromContext = false } = options;
    const extensions = this.#parts.getExtensions();
    // At once without extensions: the next command may be one that aborts it.
    const instead = extensions && (await extensions.emit({ type: "user_bash", command, excludeFromContext, cwd }));
    const result = await this.#execute(command, options, instead);
    const message: BashExecutionMessage = {
      role: "bashExecution",
      command,
      ...result,
      ...(excludeFromContext && { excludeFromContext }),
      timestamp: this.#parts.clock.now(),
    };
    await this.#parts.readKeys();
    await this.#remember(message).catch((error: unknown) => {
      const reason = `The command was run, but could not be written into the session: ${getErrorMessage(error)}`;
      if (!session.readOnly) throw new HarnessError("write_failed", reason, { cause: error });
      notices.add("not_remembered", reason);
    });
    const { output, exitCode, cancelled, truncated, fullOutputPath } = result;
    return { output, exitCode, cancelled, truncated, ...(fullOutputPath !== undefined && { fullOutputPath }) };
  }

  /** `instead` is what an extension does with the command. */
  async #execute(
    command: string,
    { onOutput }: BashOptions,
    instead: ExtensionResult<"user_bash"> | undefined,
  ): Promise<BashResult> {
    if (this.#running) throw new HarnessError("busy", "A command is already running. Wait for it, or abort it.");
    const { signal } = (this.#running = new AbortController());
    const { cwd, getTool } = this.#parts;
    try {
      if (instead?.result) return instead.result;
      if (instead?.operations) return await runWith(instead.operations, command, { cwd, signal, onOutput });
      const { hasEndedProcesses, ...result } = await runTool(getTool(), command, signal, onOutput);
      if (hasEndedProcesses) {
        this.#parts.notices.add("processes_ended", `Processes that this command left running were ended: ${command}`);
      }
      return result;
    } finally {
      this.#running = undefined;
    }
  }

  /** Not between a call and its result, where the model would not understand it: until then, a copy is in the log. */
  async #remember(message: BashExecutionMessage): Promise<void> {
    const { session, transcript, activity, notices } = this.#parts;
    const { isBusy } = activity;
    if (isBusy) await session.appendCustomEntry(customTypes.bashRan, message);
    const written = activity.later(async () => {
      await session.appendMessage(message);
      transcript.add(message);
    });
    if (!isBusy) return await written;
    written.catch((error: unknown) => notices.add("not_remembered", getErrorMessage(error)));
  }
}

/** The end of a long output is kept. */
const maxOutputLength = 50_000;

/** Runs a command where an extension wants it to run. */
async function runWith(
  operations: BashOperations,
  command: string,
  { cwd, signal, onOutput }: { cwd: string; signal: AbortSignal; onOutput: ((text: string) => void) | undefined },
): Promise<BashResult> {
  let output = "";
  const decoder = new TextDecoder();
  const onData = (data: Buffer) => {
    const text = decoder.decode(data, { stream: true });
    output += text;
    onOutput?.(text);
  };
  const { exitCode } = await operations.exec(command, cwd, { onData, signal });
  const truncated = output.length > maxOutputLength;
  return {
    output: output.slice(-maxOutputLength),
    exitCode: exitCode ?? undefined,
    cancelled: signal.aborted,
    truncated,
  };
}

async function runTool(
  tool: AgentTool,
  command: string,
  signal: AbortSignal,
  onOutput: ((text: string) => void) | undefined,
): Promise<BashResult & { hasEndedProcesses: boolean }> {
  try {
    const { content, details } = await tool.execute("bash", { command }, signal, (update) => {
      if (update.content.length > 0) onOutput?.(getText(update.content));
    });
    return { cancelled: false, ...toResult(getText(content), details as BashDetails) };
  } catch (error) {
    const { details } = error as { details?: BashDetails };
    if (!details && !signal.aborted) throw new HarnessError("run_failed", getErrorMessage(error), { cause: error });
    return { cancelled: signal.aborted, ...toResult(getErrorMessage(error), details) };
  }
}

/** The text ends with remarks for the model, which are not a part of the output. */
function toResult(text: string, details: Partial<BashDetails> = {}) {
  const { exitCode, outputFile, outputLength = 0, shownLines = 0, totalLines = 0 } = details;
  return {
    output: text.slice(0, outputLength),
    exitCode,
    truncated: shownLines < totalLines,
    ...(outputFile !== undefined && { fullOutputPath: outputFile }),
    hasEndedProcesses: details.endedProcesses === true,
  };
}
