import { AttachedImages } from "./attached-images.ts";
import type { SessionClient } from "./session-client.ts";

/** Sends messages with their images, and takes back those that wait. */
export class Outbox {
  readonly images = new AttachedImages();
  readonly #getClient: () => SessionClient;
  /** Resolves when all that was sent is taken. */
  #sending: Promise<unknown> = Promise.resolve();

  constructor(getClient: () => SessionClient) {
    this.#getClient = getClient;
  }

  /**
   * Without a run, the message begins one: the session decides that, since what is shown of it may be late. Rejects if the
   * message was not taken.
   */
  async send(type: "steer" | "follow_up", message: string): Promise<void> {
    const images = this.images.take(message);
    const sent = this.#getClient().execute({ type, message, ...(images.length > 0 && { images }) });
    this.#sending = Promise.allSettled([this.#sending, sent]);
    await sent;
  }

  /** Empties the queue, also of what is on its way to it, and resolves to the texts. */
  async takeBack(): Promise<string[]> {
    await this.#sending;
    const { steering, followUp } = await this.#getClient().execute({ type: "clear_queue" });
    return [...steering, ...followUp];
  }
}
