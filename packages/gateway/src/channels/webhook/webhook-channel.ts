/** A channel that another server brings: both sides send signed JSON to each other over HTTP. */
import { getErrorMessage, isRecord, tryParseJson } from "@tau/ai/internal";
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
import { requestPlatform } from "../http-request.ts";
import { whenAborted } from "../pause.ts";
import { parseStdioMessage } from "../stdio/stdio-message.ts";
import { isSigned, sign } from "./signature.ts";

export const webhookChannel: ChannelType = {
  secrets: { secret: "A secret of at least 32 characters that the other server knows too" },
  open: async (options) => {
    const secret = await options.getSecret("secret");
    if (secret.length < minSecretLength) throw new Error(`The secret has fewer than ${minSecretLength} characters.`);
    return new WebhookChannel(options, secret);
  },
};

const minSecretLength = 32;
const answerTimeoutMs = 20_000;

class WebhookChannel implements Channel {
  readonly limits = { maxTextLength: 4_000, maxFileBytes: 20 * 1024 * 1024, provesNonce: false };
  readonly #options: ChannelOptions;
  readonly #secret: string;
  #events: ChannelEvents | undefined;

  constructor(options: ChannelOptions, secret: string) {
    this.#options = options;
    this.#secret = secret;
  }

  async run(events: ChannelEvents, signal: AbortSignal): Promise<void> {
    this.#events = events;
    events.onState({ kind: "connected" });
    await whenAborted(signal);
    this.#events = undefined;
  }

  async send({ address, text, replyTo, buttons, nonce }: OutgoingText): Promise<Delivery> {
    return await this.#post({ type: "send", id: nonce, address, text, replyTo, buttons });
  }

  async react(address: ChannelAddress, messageId: string, emoji: string): Promise<Delivery> {
    return await this.#post({ type: "react", id: `${messageId} ${emoji}`, address, messageId, emoji });
  }

  async sendFile({ address, file, replyTo, nonce }: OutgoingFile): Promise<Delivery> {
    const { name, mimeType, bytes } = file;
    const data = Buffer.from(bytes).toString("base64");
    return await this.#post({ type: "file", id: nonce, address, replyTo, name, mimeType, data });
  }

  async receiveRequest({ headers, body }: ReceivedRequest): Promise<{ status: number; body?: unknown }> {
    const nowMs = this.#options.clock.now();
    const [timestamp, signature] = [headers["x-tau-timestamp"], headers["x-tau-signature"]];
    if (!isSigned({ secret: this.#secret, timestamp, signature, body, nowMs })) return { status: 401 };
    if (!this.#events) return { status: 503 };
    const value = tryParseJson(body.toString("utf8"));
    if (!isRecord(value)) return { status: 400, body: { reason: "The body is not a JSON object." } };
    const parsed = parseStdioMessage(value);
    if (parsed.kind === "wrong") return { status: 400, body: { reason: parsed.reason } };
    try {
      if (parsed.kind === "message") await this.#events.onMessage(parsed.message);
      else await this.#events.onPress(parsed.press);
      return { status: 200, body: { received: value["id"] ?? null } };
    } catch (error) {
      return { status: 503, body: { reason: getErrorMessage(error) } };
    }
  }

  async #post(value: { id: string } & Record<string, unknown>): Promise<Delivery> {
    const { settings, clock } = this.#options;
    if (settings.url === undefined) return { kind: "refused", reason: "The setting `url` names no server." };
    const body = JSON.stringify(value);
    const seconds = String(Math.floor(clock.now() / 1_000));
    const answer = await requestPlatform({
      url: settings.url,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": encodeURIComponent(value.id),
        "x-tau-timestamp": seconds,
        "x-tau-signature": `v1=${sign(this.#secret, seconds, body)}`,
      },
      body,
      timeoutMs: answerTimeoutMs,
    });
    if (answer.kind !== "answer") return answer;
    return toDelivery(answer.status, answer.headers["retry-after"], answer.body.toString("utf8"));
  }
}

/** 2xx is delivered, 429 and 503 are for later, other 4xx are refused; of the rest nobody knows. */
function toDelivery(status: number, retryAfter: string | string[] | undefined, body: string): Delivery {
  if (status >= 200 && status < 300) {
    const answer = tryParseJson(body);
    const messageId = isRecord(answer) && typeof answer["messageId"] === "string" ? answer["messageId"] : "";
    return { kind: "sent", messageId };
  }
  const reason = `The server answered with ${status}.`;
  if (status === 429 || status === 503) {
    const seconds = Number(retryAfter);
    return { kind: "not_sent", reason, ...(seconds > 0 && { retryAfterMs: seconds * 1_000 }) };
  }
  return status >= 400 && status < 500 ? { kind: "refused", reason } : { kind: "unknown", reason };
}
