/** Commands that the user runs (`!cmd`), with the user's own authority: the policy does not judge them. */
import type { AgentTool } from "@tau/agent";
import { type Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { BashExecutionMessage } from "@tau/protocol";
import type { BashDetails } from "@tau/tools";
import { HarnessError } from "../errors.ts";
import type { BashOperations, ExtensionResult } from "../extensions/events.ts";
import { getText } from "../run/translate.ts";

export interface BashResult {
  output: string;
  /** Undefined when the command was cancelled. */
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
}

export interface BashOptions {
  /** The model is not told of the command. Default false. */
  excludeFromContext?: boolean;
  onOutput?: (text: string) => void;
}

export interface UserBashParts {
  /** The same tool that the model has. */
  getTool: () => AgentTool;
  cwd: string;
  clock: Clock;
}

/** One command at a time. */
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
   * Resolves also when the command fails: it then has an output and an exit code. Rejects if it could not be started.
   * `instead` is what an extension does with it.
   */
  async run(
    command: string,
    { excludeFromContext = false, onOutput }: BashOptions,
    instead?: ExtensionResult<"user_bash">,
  ): Promise<BashExecutionMessage> {
    if (this.#running) throw new HarnessError("busy", "A command is already running. Wait for it, or abort it.");
    const { signal } = (this.#running = new AbortController());
    try {
      const result =
        instead?.result ??
        (instead?.operations
          ? await runWith(instead.operations, command, { cwd: this.#parts.cwd, signal, onOutput })
          : await runTool(this.#parts.getTool(), command, signal, onOutput));
      return {
        role: "bashExecution",
        command,
        ...result,
        ...(excludeFromContext && { excludeFromContext }),
        timestamp: this.#parts.clock.now(),
      };
    } finally {
      this.#running = undefined;
    }
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
): Promise<BashResult> {
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
function toResult(text: string, details: Partial<BashDetails> = {}): Omit<BashResult, "cancelled"> {
  const { exitCode, outputFile, outputLength = 0, shownLines = 0, totalLines = 0 } = details;
  const file = outputFile === undefined ? {} : { fullOutputPath: outputFile };
  return { output: text.slice(0, outputLength), exitCode, truncated: shownLines < totalLines, ...file };
}
