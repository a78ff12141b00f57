/** What the user writes: images are attached to it, it is sent, and what is still queued is taken back. */
import type { ImageContent } from "@tau/ai";
import { parseTypedCommand } from "@tau/protocol/surface";
import type { DraggedFile } from "./dragged-files.ts";
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
  /** Called when `held` changes. */
  onHeld: () => void;
}

/** An image that is being read. */
interface Attachment {
  /** What stands for it in the text. */
  text: string;
}

export class Composer {
  readonly #options: ComposerOptions;
  readonly #outbox: Outbox;
  /** What the user sends waits for this: see `Interface.settle`. */
  #settling: Promise<unknown> | undefined;
  #held: readonly { readonly text: string }[] = [];
  /** For the text that is written now. */
  #attachments: readonly Attachment[] = [];

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#outbox = new Outbox(options.getClient, options.requestRender);
  }

  /** Messages that were sent and not confirmed, if that takes a while. */
  get late(): readonly string[] {
    return this.#outbox.late;
  }

  /** What the user sent, and what still waits for other work. */
  get held(): readonly string[] {
    return this.#held.map(({ text }) => text);
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
    const { transcript, shell, runCommand } = this.#options;
    const attachments = this.#takeAttachments();
    // Only if there is something to wait for: Escape takes back what was sent before it.
    if (this.#settling) await this.#hold(text);
    const whole = this.#complete(text, attachments);
    const trimmed = whole.trim();
    if (trimmed === "") return;
    transcript.keepRemarks();
    const typed = parseTypedCommand(trimmed);
    if (typed && (await runCommand(typed.name, typed.argument))) return;
    const send = () => (trimmed.startsWith("!") ? shell.run(trimmed) : this.#outbox.send("steer", whole));
    await this.#deliver(whole, send);
  }

  /** Queues a text for after the run. */
  async followUp(text: string): Promise<void> {
    const attachments = this.#takeAttachments();
    if (this.#settling) await this.#hold(text);
    const whole = this.#complete(text, attachments);
    if (whole.trim() !== "") await this.#deliver(whole, () => this.#outbox.send("follow_up", whole));
  }

  /** Waits for `#settling`. Meanwhile the text is not lost if the program ends. */
  async #hold(text: string): Promise<void> {
    const { onHeld } = this.#options;
    const held = { text };
    this.#held = [...this.#held, held];
    onHeld();
    await this.#settling;
    this.#held = this.#held.filter((other) => other !== held);
    onHeld();
  }

  /** What is being read belongs to the text that is sent now. */
  #takeAttachments(): readonly Attachment[] {
    const attachments = this.#attachments;
    this.#attachments = [];
    return attachments;
  }

  #complete(text: string, attachments: readonly Attachment[]): string {
    const whole = [text, ...attachments.map((attachment) => attachment.text)].filter((part) => part !== "").join(" ");
    if (whole.trim() !== "") this.#options.editor.addToHistory(whole);
    return whole;
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
    const { program, say } = this.#options;
    const isImage = await this.#attach(program.readClipboardImage(), "");
    if (!isImage) say("There is no image on the clipboard, or no program that reads it.", "warning");
  }

  /** What is no image after all is pasted as text. */
  async attachDragged(files: readonly DraggedFile[]): Promise<void> {
    const { program, getCwd } = this.#options;
    // All of them go along with a text that is sent meanwhile. They are read one after the other to keep their order.
    let before: Promise<unknown> = Promise.resolve();
    const attached = files.map(({ imagePath, pasted }) => {
      const read = async () => (imagePath === undefined ? undefined : await program.readImageFile(imagePath, getCwd()));
      const current = this.#attach(before.then(read, read), pasted);
      before = current;
      return current;
    });
    await Promise.all(attached);
  }

  /**
   * Puts an image into the text, or `otherwise` if it cannot be read. A text that is sent meanwhile takes it along. Resolves
   * to whether there is an image.
   */
  async #attach(reading: Promise<ImageContent | undefined>, otherwise: string): Promise<boolean> {
    const { editor, requestRender } = this.#options;
    const attachment: Attachment = { text: otherwise };
    this.#attachments = [...this.#attachments, attachment];
    let image: ImageContent | undefined;
    try {
      image = await this.settle(async () => {
        const read = await reading;
        if (read) attachment.text = this.#outbox.images.add(read);
        return read;
      });
    } finally {
      const isSent = !this.#attachments.includes(attachment);
      this.#attachments = this.#attachments.filter((other) => other !== attachment);
      if (!isSent && image) editor.insertTextAtCursor(`${attachment.text} `);
      else if (!isSent && otherwise !== "") editor.paste(otherwise);
      requestRender();
    }
    return image !== undefined;
  }
}
