/** A gateway with a channel that the test itself is: it says what people write, and sees what they get. */
import type { SettingsInput } from "@tau/config/settings";
import { expect, onTestFinished } from "vitest";
import type {
  Channel,
  ChannelEvents,
  ChannelLimits,
  ChannelState,
  Delivery,
  IncomingMessage,
  OutgoingFile,
  OutgoingText,
} from "@tau/extensions";
import { openTestGateway, type TestGatewayOptions } from "../../src/testing/index.ts";

type AccountInput = NonNullable<NonNullable<SettingsInput["gateway"]>["channels"]>[string];

export class TestChannel implements Channel {
  readonly limits: ChannelLimits;
  /** Everything that was delivered, in order. */
  readonly sent: OutgoingText[] = [];
  readonly files: OutgoingFile[] = [];
  readonly reactions: [messageId: string, emoji: string][] = [];
  /** How the next attempts to send end, before those that succeed. */
  readonly nextDeliveries: Delivery[] = [];
  /** Each attempt, also those that failed. */
  readonly attempts: OutgoingText[] = [];
  /** The texts that people see, by the id of the message. */
  readonly shown = new Map<string, string>();
  /** Every text that people saw. */
  readonly seen: string[] = [];
  /** How the next attempts to edit end, before those that succeed. */
  readonly nextEdits: Delivery[] = [];
  /** How often the account was opened. */
  runs = 0;
  #events: ChannelEvents | undefined;
  #count = 0;

  constructor(limits: Partial<ChannelLimits> = {}) {
    this.limits = { maxTextLength: 2_000, maxFileBytes: 1_000, provesNonce: false, ...limits };
  }

  async run(events: ChannelEvents, signal: AbortSignal): Promise<void> {
    this.#events = events;
    this.runs++;
    events.onState({ kind: "connected" });
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#events = undefined;
  }

  async send(message: OutgoingText): Promise<Delivery> {
    this.attempts.push(message);
    const delivery = this.nextDeliveries.shift();
    if (delivery && delivery.kind !== "sent") return delivery;
    this.sent.push(message);
    const messageId = `sent-${this.sent.length}`;
    this.#show(messageId, message.text);
    return { kind: "sent", messageId };
  }

  async edit({ messageId, text }: OutgoingText & { messageId: string }): Promise<Delivery> {
    const delivery = this.nextEdits.shift();
    if (delivery && delivery.kind !== "sent") return delivery;
    this.#show(messageId, text);
    return { kind: "sent", messageId };
  }

  #show(messageId: string, text: string): void {
    this.shown.set(messageId, text);
    this.seen.push(text);
  }

  async react(_address: unknown, messageId: string, emoji: string): Promise<Delivery> {
    this.reactions.push([messageId, emoji]);
    return { kind: "sent", messageId };
  }

  async sendFile(file: OutgoingFile): Promise<Delivery> {
    this.files.push(file);
    return { kind: "sent", messageId: "file" };
  }

  forgetSent(): void {
    this.sent.length = 0;
    this.attempts.length = 0;
    this.shown.clear();
    this.seen.length = 0;
  }

  get isOpen(): boolean {
    return this.#events !== undefined;
  }

  /** Resolves when the gateway does not need the message any more. Without more, Ann writes directly. */
  async receive(text: string, others: Partial<IncomingMessage> = {}): Promise<void> {
    const sender = others.sender ?? { id: "ann", name: "Ann" };
    await this.#events!.onMessage({
      id: `m${++this.#count}`,
      address: { channelId: `with-${sender.id}` },
      peer: { kind: "direct", id: sender.id },
      isMentioned: false,
      ...others,
      sender,
      text,
    });
  }

  setState(state: ChannelState): void {
    this.#events!.onState(state);
  }

  async press(value: string, senderId = "ann"): Promise<void> {
    const sender = { id: senderId, name: "" };
    await this.#events!.onPress({ address: { channelId: `with-${senderId}` }, sender, value });
  }

  /** The texts that a conversation got, by default that with Ann. */
  textsTo(channelId = "with-ann"): string[] {
    return this.sent.filter(({ address }) => address.channelId === channelId).map(({ text }) => text);
  }
}

interface ChannelGatewayOptions extends TestGatewayOptions {
  channel?: TestChannel;
  account?: AccountInput;
  /** Another account, which is named `other`. */
  other?: TestChannel;
  gateway?: SettingsInput["gateway"];
  /** Who is paired. Default: Ann. */
  paired?: readonly string[];
}

export async function openChannelGateway(options: ChannelGatewayOptions = {}) {
  const { channel = new TestChannel(), account, other, gateway, paired = ["ann"], ...others } = options;
  const channels = { chat: { type: "test", ...account }, ...(other && { other: { type: "other" } }) };
  const channelTypes = {
    test: async () => ({ secrets: {}, open: async () => channel }),
    other: async () => ({ secrets: {}, open: async () => other! }),
  };
  const opened = await openTestGateway({
    ...others,
    settings: { ...others.settings, gateway: { queue: { debounceMs: 1 }, ...gateway, channels } },
    options: { channelTypes, ...others.options },
  });
  onTestFinished(opened.close);
  await expect.poll(() => channel.isOpen).toBe(true);
  let isSomebodyNew = false;
  for (const id of paired) {
    isSomebodyNew =
      (await pairWith(opened.gateway.parts.channels, { accountId: "chat", channel }, id)) || isSomebodyNew;
  }
  // What a gateway that was started again has sent meanwhile stays.
  if (isSomebodyNew) channel.forgetSent();
  return { ...opened, channel };
}

/** Lets a person in as people are: by the code that they got. False if they were in. */
export async function pairWith(
  channels: Awaited<ReturnType<typeof openTestGateway>>["gateway"]["parts"]["channels"],
  { accountId, channel }: { accountId: string; channel: TestChannel },
  id: string,
): Promise<boolean> {
  if (channels.peers.isPaired(accountId, id)) return false;
  await channel.receive("Hello?", { sender: { id, name: id } });
  await expect.poll(() => channel.textsTo(`with-${id}`).length).toBe(1);
  const [, code = ""] = /pair (\w+)/.exec(channel.textsTo(`with-${id}`)[0]!) ?? [];
  await channels.peers.pair(code);
  return true;
}
