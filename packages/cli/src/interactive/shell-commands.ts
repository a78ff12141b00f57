/** Commands that the user runs with `!`, one at a time. */
import type { SessionClient } from "./session-client.ts";
import type { Transcript } from "./transcript.ts";
import { HarnessError } from "@tau/protocol";

interface ShellCommandsOptions {
  transcript: Transcript;
  getClient: () => SessionClient;
  now: () => number;
  requestRender: () => void;
}

export class ShellCommands {
  readonly #options: ShellCommandsOptions;
  #running: { command: string; client: SessionClient } | undefined;

  constructor(options: ShellCommandsOptions) {
    this.#options = options;
  }

  /** The one that is running. */
  get current(): string | undefined {
    return this.#running?.command;
  }

  /** Runs `!command`, or `!!command` without sending it to the model. Rejects if another one is running, or it cannot begin. */
  async run(text: string): Promise<void> {
    const isHidden = text.startsWith("!!");
    const command = text.slice(isHidden ? 2 : 1).trim();
    if (command === "") return;
    if (this.#running) throw new HarnessError("busy", `"${this.#running.command}" is still running. Escape stops it.`);
    const { transcript, now, requestRender } = this.#options;
    const client = this.#options.getClient();
    const block = transcript.addCommand(command);
    const since = now();
    const onOutput = (output: string) => {
      block.addOutput(output);
      requestRender();
    };
    this.#running = { command, client };
    requestRender();
    try {
      block.setResult(await client.execute({ type: "bash", command, excludeFromContext: isHidden }, { onOutput }));
    } catch (error) {
      block.setResult({ output: "", cancelled: true, truncated: false });
      transcript.forgetCommand(block);
      throw error;
    } finally {
      block.setDuration(now() - since);
      this.#running = undefined;
      requestRender();
    }
  }

  /** Stops the one that is running, in the session where it was started. */
  async abort(): Promise<void> {
    await this.#running?.client.execute({ type: "abort_bash" });
  }
}
