/** How many bytes the messages of one sender have that wait, in all sessions together. */
import { GatewayError } from "../errors.ts";
import type { InboxMessage } from "./message.ts";

type Draft = Pick<InboxMessage, "text" | "images" | "origin">;

export class WaitingBytes {
  /** Bytes of the messages that are being stored, by sender. */
  readonly #accepting = new Map<string, number>();

  /**
   * Counts a message until it is stored; then the caller calls what this returns. Throws `rate_limited` if there would be too
   * many bytes.
   */
  reserve(draft: Draft, getStoredBytes: (sender: string) => number, maxBytes: number): () => void {
    const sender = getSender(draft);
    const bytes = getBytes(draft);
    const accepting = this.#accepting.get(sender) ?? 0;
    if (getStoredBytes(sender) + accepting + bytes > maxBytes) {
      const advice = "Wait until some were said; the setting gateway.devices.maxWaitingBytes allows more.";
      const text = `The messages of this device that wait would have more than ${maxBytes} bytes. ${advice}`;
      throw new GatewayError("rate_limited", text);
    }
    this.#accepting.set(sender, accepting + bytes);
    return () => {
      const left = this.#accepting.get(sender)! - bytes;
      if (left > 0) this.#accepting.set(sender, left);
      else this.#accepting.delete(sender);
    };
  }
}

export const getSender = ({ origin }: Pick<InboxMessage, "origin">): string => origin.deviceId ?? "";

export const getBytes = ({ text, images = [] }: Draft): number =>
  images.reduce((sum, { data }) => sum + data.length, Buffer.byteLength(text));
