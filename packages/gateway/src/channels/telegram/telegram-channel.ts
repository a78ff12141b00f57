/** Telegram, over its Bot API: by long polling, or by a webhook. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import type {
  Channel,
  ChannelAddress,
  ChannelEvents,
  ChannelOptions,
  ChannelType,
  Delivery,
  OutgoingFile,
  OutgoingText,
  ReceivedRequest,
} from "@tau/extensions";
import { pause, whenAborted } from "../pause.ts";
import { describeAnswer, TelegramApi, toDelivery } from "./telegram-api.ts";
import { toTelegramHtml } from "./telegram-html.ts";
import { TelegramReceiver } from "./telegram-receiver.ts";

export const telegramChannel: ChannelType = {
  secrets: { token: "The token that @BotFather gave you" },
  open: async (options) => new TelegramChannel(options, await options.getSecret("token")),
};

/** How long Telegram waits for an update before it answers that there is none. */
const pollMs = 30_000;
/** How long the next updates wait for those that cannot be handled at once. */
const maxHandlingMs = 1_000;
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
const updateKinds = ["message", "callback_query"];

class TelegramChannel implements Channel {
  readonly limits = {
    maxTextLength: 4_000,
    maxFileBytes: 50 * 1024 * 1024,
    minEditIntervalMs: 1_500,
    provesNonce: false,
  };
  readonly #options: ChannelOptions;
  readonly #api: TelegramApi;
  readonly #webhookSecret: string;
  /** Undefined before it is known who the account is. */
  #receiver: TelegramReceiver | undefined;

  constructor(options: ChannelOptions, token: string) {
    this.#options = options;
    this.#api = new TelegramApi({ baseUrl: options.settings.baseUrl, token });
    // Whoever knows it knows the token, and nobody has to store another secret.
    this.#webhookSecret = createHmac("sha256", token).update("tau webhook").digest("hex");
  }

  async run(events: ChannelEvents, signal: AbortSignal): Promise<void> {
    const closed = new AbortController();
    const work = AbortSignal.any([signal, closed.signal]);
    const lost = await this.#keepConnected(events, work);
    closed.abort();
    await this.#receiver?.whenIdle();
    this.#receiver = undefined;
    if (lost) events.onState({ kind: "failed", reason: lost.text });
  }

  /** Resolves when the signal is aborted, or with why the account cannot be connected. */
  async #keepConnected(events: ChannelEvents, signal: AbortSignal): Promise<Lost | undefined> {
    for (let failures = 0; !signal.aborted; failures++) {
      events.onState({ kind: "connecting" });
      const reason = await this.#connect(events, signal);
      if (reason === undefined) {
        events.onState({ kind: "connected" });
        failures = 0;
      }
      const lost = reason ?? (await this.#receive(signal));
      if (signal.aborted) return undefined;
      if (lost.isFinal) return lost;
      const forMs = Math.max(lost.retryAfterMs ?? 0, Math.min(firstPauseMs * 2 ** failures, maxPauseMs));
      events.onState({ kind: "waiting", reason: lost.text, forMs });
      await pause(this.#options.clock, forMs, signal);
    }
    return undefined;
  }

  async send({ address, text, replyTo, buttons }: OutgoingText): Promise<Delivery> {
    const params = {
      ...toTarget(address),
      link_preview_options: { is_disabled: true },
      ...(replyTo !== undefined && {
        reply_parameters: { message_id: toMessageId(replyTo), allow_sending_without_reply: true },
      }),
      ...(buttons && {
        reply_markup: { inline_keyboard: [buttons.map(({ label, value }) => ({ text: label, callback_data: value }))] },
      }),
    };
    return await this.#sendText("sendMessage", params, text);
  }

  async edit({ address, messageId, text }: OutgoingText & { messageId: string }): Promise<Delivery> {
    const { chat_id } = toTarget(address);
    const params = { chat_id, message_id: toMessageId(messageId), link_preview_options: { is_disabled: true } };
    return await this.#sendText("editMessageText", params, text);
  }

  async react(address: ChannelAddress, messageId: string, emoji: string): Promise<Delivery> {
    const { chat_id } = toTarget(address);
    const reaction = [{ type: "emoji", emoji }];
    return toDelivery(
      await this.#api.call("setMessageReaction", { chat_id, message_id: toMessageId(messageId), reaction }),
    );
  }

  async sendFile({ address, file }: OutgoingFile): Promise<Delivery> {
    const isImage = ["image/png", "image/jpeg", "image/webp"].includes(file.mimeType);
    const fields = Object.fromEntries(Object.entries(toTarget(address)).map(([name, value]) => [name, String(value)]));
    const photo = isImage ? await this.#api.upload("sendPhoto", fields, { field: "photo", ...file }) : undefined;
    // Photos have stricter limits of size and shape than documents.
    if (photo && photo.kind !== "refused") return toDelivery(photo);
    return toDelivery(await this.#api.upload("sendDocument", fields, { field: "document", ...file }));
  }

  async showTyping(address: ChannelAddress): Promise<void> {
    await this.#api.call("sendChatAction", { ...toTarget(address), action: "typing" });
  }

  async receiveRequest({ headers, body }: ReceivedRequest): Promise<{ status: number }> {
    const secret = headers["x-telegram-bot-api-secret-token"];
    if (typeof secret !== "string" || !isSame(secret, this.#webhookSecret)) return { status: 401 };
    const isHandled = await this.#receiver?.takeOne(tryParseJson(body.toString("utf8")));
    return { status: isHandled ? 200 : 503 };
  }

  /** Text that Telegram does not take as HTML is sent as it is. */
  async #sendText(method: string, params: Record<string, unknown>, text: string): Promise<Delivery> {
    const html = await this.#api.call(method, { ...params, text: toTelegramHtml(text), parse_mode: "HTML" });
    // Markup can become longer than the Markdown: a link that is defined once is shown wherever it is used.
    if (html.kind === "refused" && /parse entities|too long/i.test(html.reason)) {
      return toDelivery(await this.#api.call(method, { ...params, text }));
    }
    // An edit that changes nothing is done already.
    if (html.kind === "refused" && /message is not modified/i.test(html.reason)) {
      return { kind: "sent", messageId: String(params["message_id"] ?? "") };
    }
    return toDelivery(html);
  }

  /** Finds out who the account is, and says how updates come. Undefined: it is connected. */
  async #connect(events: ChannelEvents, signal: AbortSignal): Promise<Lost | undefined> {
    const me = await this.#api.call("getMe", {}, { signal });
    if (me.kind !== "ok") return toLost(me);
    const { id, username } = isRecord(me.result) ? me.result : {};
    if (typeof id !== "number" || typeof username !== "string") return { text: "getMe has no id.", isFinal: false };
    const { clock, log } = this.#options;
    const parts = { api: this.#api, bot: { id, username }, events, clock, log, signal };
    this.#receiver ??= new TelegramReceiver(parts);
    const { url } = this.#options.settings;
    const answer = this.#isWebhook
      ? await this.#api.call("setWebhook", {
          url,
          secret_token: this.#webhookSecret,
          allowed_updates: updateKinds,
          // More of them at a time would arrive in any order.
          max_connections: 1,
        })
      : await this.#api.call("deleteWebhook", {});
    return answer.kind === "ok" ? undefined : toLost(answer);
  }

  get #isWebhook(): boolean {
    return this.#options.settings.mode === "webhook";
  }

  /** Receives updates until the connection is lost. */
  async #receive(signal: AbortSignal): Promise<Lost> {
    if (this.#isWebhook) {
      await whenAborted(signal);
      return { text: "", isFinal: true };
    }
    for (const receiver = this.#receiver!; ;) {
      const params = { offset: receiver.offset, timeout: pollMs / 1_000, allowed_updates: updateKinds };
      const answer = await this.#api.call("getUpdates", params, { signal, waitMs: pollMs });
      if (answer.kind !== "ok") return toLost(answer);
      receiver.take((Array.isArray(answer.result) ? answer.result : []).filter(isRecord));
      // Telegram would send at once again what is not handled.
      await receiver.whenHandled(maxHandlingMs);
    }
  }
}

/** Why nothing is received any more. */
interface Lost {
  readonly text: string;
  /** It makes no sense to try again: the token is wrong, for example. */
  readonly isFinal: boolean;
  readonly retryAfterMs?: number;
}

function toLost(answer: Exclude<Awaited<ReturnType<TelegramApi["call"]>>, { kind: "ok" }>): Lost {
  const isFinal = answer.kind === "refused" && (answer.code === 401 || answer.code === 404);
  const text = isFinal ? `Telegram does not know the token: ${describeAnswer(answer)}` : describeAnswer(answer);
  return { text, isFinal, ...(answer.kind === "limited" && { retryAfterMs: answer.retryAfterMs }) };
}

/** Messages are named with their chat, because their numbers begin anew in each. */
const toMessageId = (id: string): number => Number(id.split("/").at(-1));

const toTarget = ({ channelId, threadId }: ChannelAddress): { chat_id: number; message_thread_id?: number } => ({
  chat_id: Number(channelId),
  ...(threadId !== undefined && { message_thread_id: Number(threadId) }),
});

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
