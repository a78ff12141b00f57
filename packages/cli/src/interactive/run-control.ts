/** Stops what is in progress, and takes back what is queued. */
import type { View } from "@tau/protocol";
import type { EditorSlot } from "./editor-slot.ts";
import type { Outbox } from "./outbox.ts";
import type { SessionClient } from "./session-client.ts";
import type { ShellCommands } from "./shell-commands.ts";

interface RunControlOptions {
  editor: EditorSlot;
  outbox: Outbox;
  shell: ShellCommands;
  getClient: () => SessionClient;
  getView: () => View;
  /** Runs work that nobody waits for; its failure is shown. */
  run: (work: () => Promise<unknown>) => void;
  requestRender: () => void;
}

export class RunControl {
  readonly #options: RunControlOptions;

  constructor(options: RunControlOptions) {
    this.#options = options;
  }

  get hasRun(): boolean {
    const { run, compaction, retry } = this.#options.getView().live;
    return Boolean(run || compaction || retry);
  }

  /** Whether something is in progress that can be stopped. */
  get isBusy(): boolean {
    return this.#options.shell.current !== undefined || this.hasRun;
  }

  /** Stops the run; queued messages go back to the editor. False if there is none. */
  stopRun(): boolean {
    if (!this.hasRun) return false;
    this.#options.run(() => this.#abort());
    return true;
  }

  /** Stops the command that the user runs, or else the run. */
  async stop(): Promise<void> {
    const { shell } = this.#options;
    await (shell.current === undefined ? this.#abort() : shell.abort());
  }

  /** Puts queued messages back into the editor, before what is in it. */
  async dequeue(): Promise<void> {
    const { editor, outbox, requestRender } = this.#options;
    const texts = await outbox.takeBack();
    const typed = editor.getExpandedText();
    if (texts.length > 0) editor.setText([...texts, typed].filter((text) => text !== "").join("\n\n"));
    requestRender();
  }

  async #abort(): Promise<void> {
    try {
      await this.dequeue();
    } finally {
      await this.#options.getClient().execute({ type: "abort" });
    }
  }
}
