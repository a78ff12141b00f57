/** What the user writes: images are attached to it, it is sent, and what is still queued is taken back. */
import type { Interface } from "./interface.ts";
import type { EditorSlot } from "./editor-slot.ts";
import { Outbox } from "./outbox.ts";
import type { Program } from "./program.ts";
import type { SessionClient } from "./session-client.ts";
import type { ShellCommands } from "./shell-commands.ts";
import type { Transcript } from "./transcript.ts";

export interface ComposerOptions extends Pick<Interface, "say"> {
  editor: EditorSlot;
  transcript: Transcript;
  shell: ShellCommands;
  program: Program;
  getClient: () => SessionClient;
  /** The directory of the session. */
  getCwd: () => string;
  /** Whether there is such a slash command. */
  runCommand: (name: string, argument: string) => Promise<boolean>;
  requestRender: () => void;
}

export class Composer {
  readonly #options: ComposerOptions;
  readonly #outbox: Outbox;
  /** What the user sends waits for this: see `Interface.settle`. */
  #settling: Promise<unknown> | undefined;

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#outbox = new Outbox(options.getClient, options.requestRender);
  }

  /** Messages that were sent and not confirmed, if that takes a while. */
  get late(): readonly string[] {
    return this.#outbox.late;
  }

  /** What is sent from now on waits for this work. */
  async settle<T>(work: () => Promise<T>): Promise<T> {
    const result = work();
    const settling = Promise.allSettled([this.#settling, result]);
    this.#settling = settling;
    void settling.finally(() => {
      if (this.#settling === settling) this.#settling = undefined;
    });
    return await result;
  }

  /** Runs a text that is a command, and sends any other one. */
  async submit(text: string): Promise<void> {
    const { editor, transcript, shell, runCommand } = this.#options;
    const trimmed = text.trim();
    if (trimmed === "") return;
    editor.addToHistory(text);
    editor.setText("");
    transcript.keepRemarks();
    if (this.#settling) await this.#settling;
    const [, name, argument = ""] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(trimmed) ?? [];
    if (name !== undefined && (await runCommand(name, argument.trim()))) return;
    await this.#deliver(text, () => (trimmed.startsWith("!") ? shell.run(trimmed) : this.#outbox.send("steer", text)));
  }

  /** Queues a text for after the run. */
  async followUp(text: string): Promise<void> {
    const { editor } = this.#options;
    editor.setText("");
    editor.addToHistory(text);
    if (this.#settling) await this.#settling;
    await this.#deliver(text, () => this.#outbox.send("follow_up", text));
  }

  /** What was not taken comes back to the editor. */
  async #deliver(text: string, send: () => Promise<unknown>): Promise<void> {
    const { editor } = this.#options;
    try {
      await send();
    } catch (error) {
      if (editor.getText() === "") editor.setText(text);
      throw error;
    }
  }

  /** What was queued comes back to the editor, before what is in it. */
  async dequeue(): Promise<void> {
    const { editor, requestRender } = this.#options;
    const texts = await this.#outbox.takeBack();
    const typed = editor.getExpandedText();
    if (texts.length > 0) editor.setText([...texts, typed].filter((text) => text !== "").join("\n\n"));
    requestRender();
  }

  async pasteImage(): Promise<void> {
    const { editor, program, say, requestRender } = this.#options;
    const image = await program.readClipboardImage();
    if (!image) return say("There is no image on the clipboard, or no program that reads it.", "warning");
    editor.insertTextAtCursor(`${this.#outbox.images.add(image)} `);
    requestRender();
  }

  /** What is no image after all is pasted as text: `data`. */
  async attachDragged(path: string, data: string): Promise<void> {
    const { editor, program, getCwd, requestRender } = this.#options;
    const image = await program.readImageFile(path, getCwd());
    if (image) editor.insertTextAtCursor(`${this.#outbox.images.add(image)} `);
    else editor.handleInput(data);
    requestRender();
  }
}
