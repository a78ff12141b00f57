/** Commands that the user runs (`!cmd`), with the user's own authority: the policy does not judge them. */
import type { AgentTool } from "@tau/agent";
import { type Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { BashExecutionMessage } from "@tau/protocol";
import type { BashDetails } from "@tau/tools";
import { HarnessError } from "../errors.ts";
import { getText } from "../run/translate.ts";

export interface BashResult {
  output: string;
  /** Undefined when the command was cancelled, or could not be run. */
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
  clock: Clock;
}

/** One command at a time. */
export class UserBash {
  readonly #parts: UserBashParts;
  #running: AbortController | undefined;

  constructor(parts: UserBashParts) {
    this.#parts = parts;
  }

  abort(): void {
    this.#running?.abort();
  }

  /** Resolves also when the command fails: it then has an output and an exit code. */
  async run(command: string, { excludeFromContext = false, onOutput }: BashOptions): Promise<BashExecutionMessage> {
    if (this.#running) throw new HarnessError("busy", "A command is already running. Wait for it, or abort it.");
    const { signal } = (this.#running = new AbortController());
    try {
      const result = await runTool(this.#parts.getTool(), command, signal, onOutput);
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
    return { output: getText(content), cancelled: false, ...toResult(details) };
  } catch (error) {
    const { details } = error as { details?: unknown };
    return { output: getErrorMessage(error), cancelled: signal.aborted, ...toResult(details) };
  }
}

function toResult(details: unknown) {
  const { exitCode, outputFile, shownLines = 0, totalLines = 0 } = (details ?? {}) as Partial<BashDetails>;
  const truncated = shownLines < totalLines;
  return { exitCode, truncated, ...(outputFile !== undefined && { fullOutputPath: outputFile }) };
}
