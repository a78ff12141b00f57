/** Sends what the user writes, with the images that are attached to it. */
import type { ImageContent } from "@tau/ai";
import { parseTypedCommand } from "@tau/protocol/surface";
import { parseInstruction } from "./add-instruction.ts";
import type { DraggedFile } from "./dragged-files.ts";
import type { Interface } from "./interface.ts";
import type { EditorSlot } from "./editor-slot.ts";
import type { Outbox } from "./outbox.ts";
import type { PastPrompts } from "./past-prompts.ts";
import type { Program } from "./program.ts";
import type { ShellCommands } from "./shell-commands.ts";
import type { SubmissionGate } from "./submission-gate.ts";
import type { Transcript } from "./transcript.ts";

export interface ComposerOptions extends Pick<Interface, "say"> {
  editor: EditorSlot;
  transcript: Transcript;
  shell: ShellCommands;
  outbox: Outbox;
  gate: SubmissionGate;
  prompts: Pick<PastPrompts, "add">;
  program: Program;
  /** The directory of the session. */
  getCwd: () => string;
  /** Whether there is such a slash command. */
  runCommand: (name: string, argument: string) => Promise<boolean>;
  /** Whether the text was a line for a file of instructions, and was dealt with. */
  addInstruction: (text: string) => Promise<boolean>;
  requestRender: () => void;
  /** Called when a text begins or ends to wait at the gate. */
  onHeld: () => void;
}

/** An image that is being read. */
interface Attachment {
  /** Stands for it in the text. */
  text: string;
}

export class Composer {
  readonly #options: ComposerOptions;
  /** For the text that is written now. */
  #attachments: readonly Attachment[] = [];

  constructor(options: ComposerOptions) {
    this.#options = options;
  }

  /** Runs a text that is a command, and sends any other one. */
  async submit(text: string): Promise<void> {
    const { transcript, shell, outbox, gate, runCommand, onHeld } = this.#options;
    const attachments = this.#takeAttachments();
    // Only if there is something to wait for: Escape takes back what was sent before it.
    if (gate.isClosed) await gate.hold(text, onHeld);
    const whole = this.#complete(text, attachments);
    const trimmed = whole.trim();
    if (trimmed === "") return;
    transcript.keepRemarks();
    // Anything else is sent at once: Escape takes back what was sent before it.
    const isInstruction = attachments.length === 0 && parseInstruction(trimmed) !== undefined;
    if (isInstruction && (await this.#options.addInstruction(trimmed))) return;
    const typed = parseTypedCommand(trimmed);
    if (typed && (await runCommand(typed.name, typed.argument))) return;
    const send = () => (trimmed.startsWith("!") ? shell.run(trimmed) : outbox.send("steer", whole));
    await this.#deliver(whole, send);
  }

  /** Queues a text for after the run. */
  async followUp(text: string): Promise<void> {
    const { outbox, gate, onHeld } = this.#options;
    const attachments = this.#takeAttachments();
    if (gate.isClosed) await gate.hold(text, onHeld);
    const whole = this.#complete(text, attachments);
    if (whole.trim() !== "") await this.#deliver(whole, () => outbox.send("follow_up", whole));
  }

  /** Takes the images that are being read: they belong to the text that is sent now. */
  #takeAttachments(): readonly Attachment[] {
    const attachments = this.#attachments;
    this.#attachments = [];
    return attachments;
  }

  #complete(text: string, attachments: readonly Attachment[]): string {
    const whole = [text, ...attachments.map((attachment) => attachment.text)].filter((part) => part !== "").join(" ");
    if (whole.trim() !== "") this.#options.prompts.add(whole);
    return whole;
  }

  /** Sends a text. If it was not taken, it comes back to the editor. */
  async #deliver(text: string, send: () => Promise<unknown>): Promise<void> {
    const { editor } = this.#options;
    try {
      await send();
    } catch (error) {
      if (editor.getText() === "") editor.setText(text);
      throw error;
    }
  }

  async pasteImage(): Promise<void> {
    const { program, say } = this.#options;
    const isImage = await this.#attach(program.readClipboardImage(), "");
    if (!isImage) say("There is no image on the clipboard, or no program that reads it.", "warning");
  }

  /** Attaches images. A file that is no image after all is pasted as text. */
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
    const { editor, outbox, gate, requestRender } = this.#options;
    const attachment: Attachment = { text: otherwise };
    this.#attachments = [...this.#attachments, attachment];
    let image: ImageContent | undefined;
    try {
      image = await gate.settle(async () => {
        const read = await reading;
        if (read) attachment.text = outbox.images.add(read);
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
