/** Commands that a person runs in a session. Their output becomes part of the conversation. */
import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import type { Agent, AgentMessage } from "@tau/agent";
import { type BashOperations, CommandOutput, createLocalBashOperations, type SessionManager } from "@tau/pi/internal";
import type { SettingsManager } from "../settings/settings-manager.ts";
import { getToolsOptions } from "./active-tools.ts";

export interface BashResult {
  output: string;
  /** Undefined for a command that was ended. */
  exitCode: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  /** The file with all output, if not all is in `output`. */
  fullOutputPath?: string | undefined;
}

export interface RecordOptions {
  /** Whether the model does not see it. */
  excludeFromContext?: boolean;
}

interface BashParts {
  agent: Agent;
  cwd: string;
  sessionManager: SessionManager;
  settingsManager: SettingsManager;
}

export class BashCommands {
  readonly #parts: BashParts;
  #running: AbortController | undefined;
  /** Commands that ended while a run was in progress: a message between a call and its result would break it. */
  #pending: AgentMessage[] = [];

  constructor(parts: BashParts) {
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  abort(): void {
    this.#running?.abort();
  }

  async execute(
    command: string,
    onChunk: ((chunk: string) => void) | undefined,
    options: RecordOptions & { operations?: BashOperations },
  ): Promise<BashResult> {
    const { cwd, settingsManager } = this.#parts;
    const abort = new AbortController();
    this.#running = abort;
    const output = new CommandOutput();
    const decoder = new StringDecoder("utf8");
    const onData = (data: Buffer) => {
      output.add(data);
      onChunk?.(toPlain(decoder.write(data)));
    };
    try {
      const { commandPrefix, ...shell } = getToolsOptions(settingsManager).bash;
      const { exec } = options.operations ?? createLocalBashOperations(shell);
      const whole = commandPrefix ? `${commandPrefix}\n${command}` : command;
      const ended = await exec(whole, cwd, { onData, signal: abort.signal }).catch((error: unknown) => ({ error }));
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
      this.record(command, result, options);
      return result;
    } finally {
      this.#running = undefined;
    }
  }

  /** Adds a command to the conversation; during a run, it waits for `addPending`. */
  record(command: string, result: BashResult, { excludeFromContext }: RecordOptions): void {
    const { output, exitCode, cancelled, truncated, fullOutputPath } = result;
    this.#pending.push({
      role: "bashExecution",
      command,
      output,
      exitCode,
      cancelled,
      truncated,
      ...(fullOutputPath !== undefined && { fullOutputPath }),
      ...(excludeFromContext !== undefined && { excludeFromContext }),
      timestamp: Date.now(),
    });
    if (!this.#parts.agent.state.isStreaming) this.addPending();
  }

  addPending(): void {
    const { agent, sessionManager } = this.#parts;
    for (const message of this.#pending.splice(0)) {
      agent.appendMessage(message);
      sessionManager.appendMessage(message);
    }
  }
}

const toPlain = (text: string): string => stripVTControlCharacters(text).replaceAll("\r", "");
