import { AttachedImages } from "./attached-images.ts";
import type { SessionClient } from "./session-client.ts";

/** Sends messages with their images, and takes back those that wait. */
export class Outbox {
  readonly images = new AttachedImages();
  readonly #getClient: () => SessionClient;
  readonly #isRunning: () => boolean;
  /** Resolves when all that was sent during a run is in the queue. */
  #queueing: Promise<unknown> = Promise.resolve();

  constructor(getClient: () => SessionClient, isRunning: () => boolean) {
    this.#getClient = getClient;
    this.#isRunning = isRunning;
  }

  /** Without a run, the message begins one. Rejects if the message was not taken. */
  async send(queue: "steer" | "follow_up", message: string): Promise<void> {
    const images = this.images.take(message);
    const type = this.#isRunning() ? queue : "prompt";
    const sent = this.#getClient().execute({ type, message, ...(images.length > 0 && { images }) });
    if (type !== "prompt") this.#queueing = Promise.allSettled([this.#queueing, sent]);
    await sent;
  }

  /** Empties the queue, also of what is on its way to it, and resolves to the texts. */
  async takeBack(): Promise<string[]> {
    await this.#queueing;
    const { steering, followUp } = await this.#getClient().execute({ type: "clear_queue" });
    return [...steering, ...followUp];
  }
}
