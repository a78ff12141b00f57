/** A channel that the test itself is: it says what people write, and sees what they get. */
import type { Channel, ChannelEvents, ChannelSender, Delivery, OutgoingText } from "@tau/gateway";

export class DeskChannel implements Channel {
  readonly limits = { maxTextLength: 2_000, maxFileBytes: 1_000, provesNonce: false };
  /** The texts that were delivered, in order. */
  readonly sent: string[] = [];
  /** How the next attempts to send end, before those that succeed. */
  readonly nextDeliveries: Delivery[] = [];
  #events: ChannelEvents | undefined;

  async run(events: ChannelEvents, signal: AbortSignal): Promise<void> {
    this.#events = events;
    events.onState({ kind: "connected" });
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  async send({ text }: OutgoingText): Promise<Delivery> {
    const delivery = this.nextDeliveries.shift();
    if (delivery) return delivery;
    this.sent.push(text);
    return { kind: "sent", messageId: String(this.sent.length) };
  }

  async receive(sender: ChannelSender, text: string): Promise<void> {
    const { id } = sender;
    const peer = { kind: "direct", id } as const;
    await this.#events!.onMessage({ id, address: { channelId: id }, peer, isMentioned: false, sender, text });
  }
}
