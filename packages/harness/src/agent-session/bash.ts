/** A command that a person ran themselves, through the tool that the model has too. */
import type { AgentTool } from "@tau/agent";
import { getErrorMessage } from "@tau/ai";
import type { BashDetails } from "@tau/tools";
import { getText } from "../run/translate.ts";

export interface BashResult {
  output: string;
  /** Undefined when it was cancelled, or could not be run. */
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
}

export interface RunBashOptions {
  signal: AbortSignal;
  onOutput?: ((text: string) => void) | undefined;
}

/** Never rejects: a command that fails has an output and a code. */
export async function runBash(
  tool: AgentTool,
  command: string,
  { signal, onOutput }: RunBashOptions,
): Promise<BashResult> {
  try {
    const { content, details } = await tool.execute("bash", { command }, signal, (update) => {
      if (update.content.length > 0) onOutput?.(getText(update.content));
    });
    return { output: getText(content), cancelled: false, ...about(details) };
  } catch (error) {
    const { details } = error as { details?: unknown };
    return { output: getErrorMessage(error), cancelled: signal.aborted, ...about(details) };
  }
}

function about(details: unknown) {
  const { exitCode, outputFile, shownLines = 0, totalLines = 0 } = (details ?? {}) as Partial<BashDetails>;
  const truncated = shownLines < totalLines;
  return { exitCode, truncated, ...(outputFile !== undefined && { fullOutputPath: outputFile }) };
}
