/** The text that is being written for a session, and the messages on their way. Other parts may put a text there. */
import type { AttachedImage } from "../composer/attach-image.ts";
import { UnknownCommand } from "../commands/unknown-command.ts";
import { describeProblem } from "./attempt.ts";

/** A message that the gateway has not confirmed. */
export interface OutgoingMessage {
  readonly id: number;
  readonly text: string;
  readonly images: readonly AttachedImage[];
  /** Why the gateway did not take it; undefined while it is on its way. */
  readonly problem: string | undefined;
  /** Whether it was not taken because it looks like a command. The user may have meant it as it is. */
  readonly isUnknownCommand: boolean;
  /** Whether it takes so long that the user is shown it. */
  readonly isLate: boolean;
}

export type SendMessage = (message: Pick<OutgoingMessage, "text" | "images">) => Promise<void>;

/** Gets the images that the message has already. */
type ReadImage = (others: readonly AttachedImage[]) => Promise<AttachedImage>;

/** A message that arrives sooner is not shown twice. */
const lateMs = 300;

export class Draft {
  readonly #listeners = new Set<() => void>();
  #text = "";
  #images: readonly AttachedImage[] = [];
  /** How many images are being read. */
  #reading = 0;
  /** Resolves when they are read. */
  #lastRead: Promise<unknown> = Promise.resolve();
  #outgoing: readonly OutgoingMessage[] = [];
  #lastId = 0;
  /** Whether the field gets the focus when it is drawn next. */
  wantsFocus = false;

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.#emit();
  }

  get images(): readonly AttachedImage[] {
    return this.#images;
  }

  set images(images: readonly AttachedImage[]) {
    this.#images = images;
    this.#emit();
  }

  /** Whether an image is being read. Until then nothing is sent, because the message would lack it. */
  get isReading(): boolean {
    return this.#reading > 0;
  }

  get outgoing(): readonly OutgoingMessage[] {
    return this.#outgoing;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Adds an image. One is read after the other, because how large it may be depends on those before. */
  attach(read: ReadImage): Promise<void> {
    this.#reading++;
    this.#emit();
    const added = this.#lastRead.then(() => this.#add(read));
    this.#lastRead = added.catch(() => undefined);
    return added;
  }

  /** Sends what is written, and begins anew. */
  send(send: SendMessage): void {
    if (this.isReading) return;
    const message = { text: this.#text.trim(), images: this.#images };
    if (message.text === "" && message.images.length === 0) return;
    this.#text = "";
    this.#images = [];
    this.#deliver({ ...message, id: ++this.#lastId, problem: undefined, isUnknownCommand: false, isLate: false }, send);
  }

  /** Sends a message again that was not taken. */
  sendAgain(message: OutgoingMessage, send: SendMessage): void {
    this.discard(message);
    this.#deliver({ ...message, problem: undefined }, send);
  }

  /** Puts a message that was not taken back to where it was written. */
  takeBack(message: OutgoingMessage): void {
    this.#text = [message.text, this.#text].filter((text) => text !== "").join("\n\n");
    this.#images = [...message.images, ...this.#images];
    this.discard(message);
  }

  discard({ id }: OutgoingMessage): void {
    this.#outgoing = this.#outgoing.filter((other) => other.id !== id);
    this.#emit();
  }

  async #add(read: ReadImage): Promise<void> {
    try {
      const image = await read(this.#images);
      this.#images = [...this.#images, image];
    } finally {
      this.#reading--;
      this.#emit();
    }
  }

  #deliver(message: OutgoingMessage, send: SendMessage): void {
    this.#outgoing = [...this.#outgoing, message];
    const timer = setTimeout(() => this.#change(message.id, { isLate: true }), lateMs);
    send(message)
      .then(
        () => this.discard(message),
        (error: unknown) => {
          const isUnknownCommand = error instanceof UnknownCommand;
          this.#change(message.id, { problem: describeProblem(error), isUnknownCommand });
        },
      )
      .finally(() => clearTimeout(timer));
    this.#emit();
  }

  #change(id: number, changes: Partial<OutgoingMessage>): void {
    this.#outgoing = this.#outgoing.map((message) => (message.id === id ? { ...message, ...changes } : message));
    this.#emit();
  }

  #emit(): void {
    for (const listener of this.#listeners) listener();
  }
}
