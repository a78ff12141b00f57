/** Discord, with its own library: messages come over its gateway, and go over its REST API. */
import { createHash } from "node:crypto";
import {
  type API,
  type APIActionRowComponent,
  type APIButtonComponentWithCustomId,
  ButtonStyle,
  ComponentType,
  MessageFlags,
  MessageReferenceType,
} from "@discordjs/core";
import type {
  Channel,
  ChannelAddress,
  ChannelButton,
  ChannelEvents,
  ChannelOptions,
  Delivery,
  OutgoingFile,
  OutgoingText,
} from "@tau/extensions";
import { toDelivery } from "./discord-answer.ts";
import { DiscordApi } from "./discord-api.ts";
import { receiveFromDiscord } from "./discord-run.ts";
import { toDiscordText } from "./discord-text.ts";

const maxNonceLength = 25;
const maxButtonsPerRow = 5;
const maxButtonValueLength = 100;
const maxButtonLabelLength = 80;

/** Nobody is called by what an agent writes. */
const nobody = { parse: [], replied_user: false };

export class DiscordChannel implements Channel {
  readonly limits = {
    maxTextLength: 2_000,
    maxFileBytes: 10 * 1024 * 1024,
    minEditIntervalMs: 1_200,
    provesNonce: true,
    // Discord recognises a nonce for a few minutes, and does not say how many.
    nonceExpiresInMs: 120_000,
  };
  readonly #options: ChannelOptions;
  readonly #token: string;
  readonly #api: DiscordApi;

  constructor(options: ChannelOptions, token: string) {
    this.#options = options;
    this.#token = token;
    this.#api = new DiscordApi({ baseUrl: options.settings.baseUrl, token });
  }

  async run(events: ChannelEvents, signal: AbortSignal): Promise<void> {
    try {
      await receiveFromDiscord({ ...this.#options, api: this.#api, token: this.#token, events, signal });
    } finally {
      this.#api.close();
    }
  }

  async send({ address, text, replyTo, buttons, nonce }: OutgoingText): Promise<Delivery> {
    const channelId = getChannelId(address);
    return await this.#deliver((platform) =>
      platform.channels.createMessage(channelId, {
        content: toDiscordText(text),
        ...toOptions(nonce, replyTo),
        ...(buttons && { components: toRows(buttons) }),
      }),
    );
  }

  async edit({ address, messageId, text, buttons }: OutgoingText & { messageId: string }): Promise<Delivery> {
    const channelId = getChannelId(address);
    return await this.#deliver((platform) =>
      platform.channels.editMessage(channelId, messageId, {
        content: toDiscordText(text),
        allowed_mentions: nobody,
        flags: MessageFlags.SuppressEmbeds,
        ...(buttons && { components: toRows(buttons) }),
      }),
    );
  }

  async react(address: ChannelAddress, messageId: string, emoji: string): Promise<Delivery> {
    // One of a server is written as `<:NAME:ID>`, and named `NAME:ID`.
    const [, name = emoji.trim()] = /^<a?:(\w+:\d+)>$/.exec(emoji.trim()) ?? [];
    return await this.#deliver(async (platform) => {
      await platform.channels.addMessageReaction(getChannelId(address), messageId, name);
      return { id: messageId };
    });
  }

  async sendFile({ address, file, replyTo, nonce }: OutgoingFile): Promise<Delivery> {
    const { name, mimeType: contentType, bytes: data } = file;
    return await this.#deliver((platform) =>
      platform.channels.createMessage(getChannelId(address), {
        ...toOptions(nonce, replyTo),
        files: [{ name, contentType, data }],
      }),
    );
  }

  async showTyping(address: ChannelAddress): Promise<void> {
    await this.#api.call((platform) => platform.channels.showTyping(getChannelId(address)));
  }

  async #deliver(work: (platform: API) => Promise<{ id: string }>): Promise<Delivery> {
    const answer = await this.#api.call(work);
    return answer.kind === "ok" ? { kind: "sent", messageId: answer.value.id } : toDelivery(answer);
  }
}

/** A thread is a channel of its own. */
const getChannelId = ({ channelId, threadId }: ChannelAddress): string => threadId ?? channelId;

const toOptions = (nonce: string, replyTo: string | undefined) => ({
  nonce: toDiscordNonce(nonce),
  enforce_nonce: true,
  allowed_mentions: nobody,
  flags: MessageFlags.SuppressEmbeds as const,
  ...(replyTo !== undefined && {
    message_reference: { type: MessageReferenceType.Default, message_id: replyTo, fail_if_not_exists: false },
  }),
});

/** Shortens a nonce to what Discord takes, so that no two become the same. */
const toDiscordNonce = (nonce: string): string =>
  createHash("sha256").update(nonce).digest("base64url").slice(0, maxNonceLength);

/** Leaves out buttons whose value is too long: the text says what to write instead. */
function toRows(buttons: readonly ChannelButton[]): APIActionRowComponent<APIButtonComponentWithCustomId>[] {
  const components = buttons
    .filter(({ value }) => value.length <= maxButtonValueLength)
    .map(({ label, value }, index): APIButtonComponentWithCustomId => ({
      type: ComponentType.Button,
      style: index === 0 ? ButtonStyle.Primary : ButtonStyle.Secondary,
      label: label.slice(0, maxButtonLabelLength),
      custom_id: value,
    }));
  const rows = Math.ceil(components.length / maxButtonsPerRow);
  return Array.from({ length: rows }, (_, row) => ({
    type: ComponentType.ActionRow,
    components: components.slice(row * maxButtonsPerRow, (row + 1) * maxButtonsPerRow),
  }));
}
