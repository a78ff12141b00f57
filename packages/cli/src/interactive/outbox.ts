import { setTimeout as sleep } from "node:timers/promises";
import { AttachedImages } from "./attached-images.ts";
import type { SessionClient } from "./session-client.ts";

/** A message that is taken sooner is not shown as late. */
const lateMs = 300;
/** How long Escape waits for what is on its way to the queue. */
const maxTakeBackMs = 1_000;

/** Sends messages with their images, and takes back those that wait. */
export class Outbox {
  readonly images = new AttachedImages();
  readonly #getClient: () => SessionClient;
  readonly #onLate: () => void;
  /** Resolves when all that was sent is taken. */
  #sending: Promise<unknown> = Promise.resolve();
  #late: readonly { readonly message: string }[] = [];

  constructor(getClient: () => SessionClient, onLate: () => void) {
    this.#getClient = getClient;
    this.#onLate = onLate;
  }

  /** Messages that a gateway has not confirmed for a while, oldest first. It may have them all the same. */
  get late(): readonly string[] {
    return this.#late.map(({ message }) => message);
  }

  /**
   * Without a run, the message begins one: the session decides that, since what is shown of it may be late. Rejects if the
   * message was not taken.
   */
  async send(type: "steer" | "follow_up", message: string): Promise<void> {
    const client = this.#getClient();
    const images = this.images.find(message);
    const sent = client.execute({ type, message, ...(images.length > 0 && { images }) });
    this.#sending = Promise.allSettled([this.#sending, sent]);
    // In this process it is not lost on the way, and a command takes as long as what it does.
    await (client.outlivesTerminal ? this.#watch(message, sent) : sent);
  }

  /** Empties the queue, also of what reaches it within `maxTakeBackMs`, and resolves to the texts. */
  async takeBack(): Promise<string[]> {
    // A command of an extension is on its way for as long as it runs, and may itself wait for the end of the run.
    await Promise.race([this.#sending, sleep(maxTakeBackMs, undefined, { ref: false })]);
    const { steering, followUp } = await this.#getClient().execute({ type: "clear_queue" });
    return [...steering, ...followUp];
  }

  async #watch(message: string, sent: Promise<unknown>): Promise<void> {
    const entry = { message };
    const timer = setTimeout(() => {
      this.#late = [...this.#late, entry];
      this.#onLate();
    }, lateMs);
    try {
      await sent;
    } finally {
      clearTimeout(timer);
      this.#late = this.#late.filter((other) => other !== entry);
      this.#onLate();
    }
  }
}
