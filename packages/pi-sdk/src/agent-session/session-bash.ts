/** Commands that a person runs in a session. What they printed becomes part of the conversation. */
import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import type { AgentMessage } from "@tau/agent";
import { type BashOperations, CommandOutput, createLocalBashOperations } from "@tau/pi/internal";
import { SessionRuns } from "./session-runs.ts";

export interface BashResult {
  output: string;
  /** Undefined for a command that was ended. */
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  /** The file with all output, if not all is in `output`. */
  fullOutputPath?: string | undefined;
}

interface RecordOptions {
  /** Whether the model does not see it. */
  excludeFromContext?: boolean;
}

export abstract class SessionBash extends SessionRuns {
  #running: AbortController | undefined;
  /** Commands that ended while a run was in progress: a message between a call and its result would break it. */
  #pending: AgentMessage[] = [];

  get isBashRunning(): boolean {
    return this.#running !== undefined;
  }

  get hasPendingBashMessages(): boolean {
    return this.#pending.length > 0;
  }

  abortBash(): void {
    this.#running?.abort();
  }

  async executeBash(
    command: string,
    onChunk?: (chunk: string) => void,
    options: RecordOptions & { operations?: BashOperations } = {},
  ): Promise<BashResult> {
    const abort = new AbortController();
    this.#running = abort;
    const output = new CommandOutput();
    const decoder = new StringDecoder("utf8");
    const onData = (data: Buffer) => {
      output.add(data);
      onChunk?.(toPlain(decoder.write(data)));
    };
    try {
      const { commandPrefix, ...shell } = this.getToolsOptions().bash;
      const { exec } = options.operations ?? createLocalBashOperations(shell);
      const whole = commandPrefix ? `${commandPrefix}\n${command}` : command;
      const ended = await exec(whole, this.config.cwd, { onData, signal: abort.signal }).catch((error: unknown) => ({
        error,
      }));
      output.close();
      if ("error" in ended && !abort.signal.aborted) throw ended.error;
      const { content, truncated } = output.getTail();
      const result: BashResult = {
        output: toPlain(content),
        exitCode: "error" in ended ? undefined : (ended.exitCode ?? undefined),
        cancelled: abort.signal.aborted,
        truncated,
        fullOutputPath: output.logPath,
      };
      this.recordBashResult(command, result, options);
      return result;
    } finally {
      this.#running = undefined;
    }
  }

  recordBashResult(command: string, result: BashResult, { excludeFromContext }: RecordOptions = {}): void {
    const { output, exitCode, cancelled, truncated, fullOutputPath } = result;
    const message: AgentMessage = {
      role: "bashExecution",
      command,
      output,
      exitCode,
      cancelled,
      truncated,
      ...(fullOutputPath !== undefined && { fullOutputPath }),
      ...(excludeFromContext !== undefined && { excludeFromContext }),
      timestamp: Date.now(),
    };
    this.#pending.push(message);
    if (!this.isStreaming) this.addPendingBash();
  }

  protected addPendingBash(): void {
    for (const message of this.#pending.splice(0)) {
      this.agent.appendMessage(message);
      this.sessionManager.appendMessage(message);
    }
  }
}

const toPlain = (text: string): string => stripVTControlCharacters(text).replaceAll("\r", "");
