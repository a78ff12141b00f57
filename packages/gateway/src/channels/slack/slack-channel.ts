/** Slack, with Slack's own libraries: by socket mode, or by signed requests. */
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
import { pause, whenAborted } from "../pause.ts";
import { isTokenRefused, type SlackAnswer, type SlackFailure, type SlackResult, toDelivery } from "./slack-answer.ts";
import { createSlackApi, type SlackApi } from "./slack-api.ts";
import { toContent } from "./slack-content.ts";
import { toEmojiName } from "./slack-emoji.ts";
import { parseSlackUpdate, type SlackBot } from "./slack-event.ts";
import { loadSlackFile, sendSlackFile } from "./slack-files.ts";
import { SlackNames } from "./slack-names.ts";
import { decideReconnect, type LostConnection } from "./slack-reconnect.ts";
import { isFromSlack } from "./slack-signature.ts";
import { openSlackSocket } from "./slack-socket.ts";

export const slackChannel: ChannelType = {
  secrets: {
    token: "The bot token of the app, which begins with xoxb-",
    app: "The app-level token, which begins with xapp-; in mode `events` the signing secret instead",
  },
  open: async (options) => {
    const [token, appSecret] = [await options.getSecret("token"), await options.getSecret("app")];
    const { baseUrl, mode = "socket" } = options.settings;
    if (mode !== "socket" && mode !== "events") throw new Error(`The mode ${mode} is neither socket nor events.`);
    const api = await createSlackApi({ baseUrl, token });
    const names = new SlackNames(await createSlackApi({ baseUrl, token, timeoutMs: nameTimeoutMs }), options.clock);
    return new SlackChannel(options, { api, names, token, appSecret, mode });
  },
};

/** Slack sends again what is not acknowledged within three seconds. */
const nameTimeoutMs = 1_500;

interface SlackParts {
  readonly api: SlackApi;
  readonly names: SlackNames;
  readonly token: string;
  /** The token for socket mode, or the signing secret. */
  readonly appSecret: string;
  readonly mode: "socket" | "events";
}

class SlackChannel implements Channel {
  readonly limits = {
    maxTextLength: 3_000,
    maxFileBytes: 50 * 1024 * 1024,
    // Slack takes about fifty edits a minute, of all conversations together.
    minEditIntervalMs: 3_000,
    provesNonce: false,
  };
  readonly #options: ChannelOptions;
  readonly #parts: SlackParts;
  #bot: SlackBot | undefined;
  #events: ChannelEvents | undefined;
  /** Ends the connection that there is now. */
  #connection = new AbortController();

  constructor(options: ChannelOptions, parts: SlackParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async run(events: ChannelEvents, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#events = events;
    for (let failures = 0; !signal.aborted;) {
      events.onState({ kind: "connecting" });
      this.#connection = new AbortController();
      const lost = await this.#connect(events, AbortSignal.any([signal, this.#connection.signal]));
      if (signal.aborted) break;
      const next = decideReconnect(lost, failures);
      if (next.kind === "fail") {
        events.onState({ kind: "failed", reason: next.reason });
        break;
      }
      failures = next.failures;
      if (next.forMs === 0) continue;
      events.onState({ kind: "waiting", reason: lost.reason, forMs: next.forMs });
      await pause(clock, next.forMs, signal);
    }
    this.#events = undefined;
  }

  async send({ address, text, buttons }: OutgoingText): Promise<Delivery> {
    return await this.#post("chat.postMessage", {
      ...toTarget(address),
      ...toContent(text, buttons),
      ...plainMarkup,
      unfurl_links: false,
      unfurl_media: false,
    });
  }

  async edit({ address, messageId, text, buttons }: OutgoingText & { messageId: string }): Promise<Delivery> {
    const target = { channel: address.channelId, ts: toTimestamp(messageId) };
    return await this.#post("chat.update", { ...target, ...toContent(text, buttons), ...plainMarkup });
  }

  async react({ channelId }: ChannelAddress, messageId: string, emoji: string): Promise<Delivery> {
    const name = toEmojiName(emoji);
    if (name === undefined) {
      return { kind: "refused", reason: `Slack's name of ${emoji} is not known here. Name it, such as: thumbsup.` };
    }
    const answer = await this.#call("reactions.add", { channel: channelId, timestamp: toTimestamp(messageId), name });
    if (answer.kind === "refused" && answer.code === "already_reacted") return { kind: "sent", messageId };
    return toDelivery(answer, () => messageId);
  }

  async sendFile(file: OutgoingFile): Promise<Delivery> {
    return await sendSlackFile(file, {
      api: { call: (method, params) => this.#call(method, params) },
      baseUrl: this.#options.settings.baseUrl,
    });
  }

  async receiveRequest(request: ReceivedRequest): Promise<{ status: number; body?: unknown }> {
    const { appSecret, mode } = this.#parts;
    if (mode !== "events") return { status: 404 };
    if (!isFromSlack(request, appSecret, this.#options.clock.now())) return { status: 401 };
    const { type, body } = readRequest(request);
    if (type === "url_verification") return { status: 200, body: { challenge: body["challenge"] } };
    try {
      await this.#take(type, body);
      // Slack shows people what a command is answered with.
      return { status: 200, body: {} };
    } catch (error) {
      this.#options.log(`Slack will send a message again: ${getErrorMessage(error)}`);
      return { status: 503 };
    }
  }

  async #post(method: string, params: Readonly<Record<string, unknown>>): Promise<Delivery> {
    return toDelivery(await this.#call(method, params), toMessageId);
  }

  /** A token that is refused ends the connection: nothing that comes could be answered. */
  async #call(method: string, params: Readonly<Record<string, unknown>>): Promise<SlackAnswer> {
    const answer = await this.#parts.api.call(method, params);
    if (isTokenRefused(answer)) {
      this.#bot = undefined;
      this.#connection.abort();
    }
    return answer;
  }

  /** Receives until the connection is lost, and returns why it was. */
  async #connect(events: ChannelEvents, signal: AbortSignal): Promise<LostConnection> {
    const { settings, clock, log } = this.#options;
    const { appSecret, mode } = this.#parts;
    const failure = this.#bot ? undefined : await this.#findBot(signal);
    if (failure) return toLost(failure);
    if (mode === "events") {
      events.onState({ kind: "connected" });
      await whenAborted(signal);
      return { reason: "Slack refused the token.", isFinal: false, isRenewal: true, livedMs: 0 };
    }
    const socket = await openSlackSocket({
      appToken: appSecret,
      baseUrl: settings.baseUrl,
      signal,
      clock,
      onEnvelope: (type, body) => this.#take(type, body),
      log,
    });
    if (socket.kind !== "open") return toLost(socket);
    events.onState({ kind: "connected" });
    const sinceMs = clock.now();
    const { reason, isRenewal } = await socket.ended;
    return { reason, isFinal: false, isRenewal, livedMs: clock.now() - sinceMs };
  }

  /** Finds out who the account is. Returns why that was not possible. */
  async #findBot(signal: AbortSignal): Promise<SlackFailure | undefined> {
    const { settings } = this.#options;
    const api = await createSlackApi({ baseUrl: settings.baseUrl, token: this.#parts.token, signal });
    const answer = await api.call("auth.test", {});
    if (answer.kind !== "ok") return answer;
    const { user_id: userId, team_id: teamId } = answer.result;
    if (typeof userId !== "string" || typeof teamId !== "string") {
      return { kind: "unknown", reason: "Slack did not say who the account is." };
    }
    this.#bot = { userId, teamId };
    return undefined;
  }

  async #take(type: string, body: unknown): Promise<void> {
    const [bot, events] = [this.#bot, this.#events];
    if (!bot || !events) throw new Error("The account is not connected.");
    const update = parseSlackUpdate(type, body, bot);
    switch (update.kind) {
      case "press":
        return await events.onPress(update.press);
      case "left_out":
        return this.#options.log("Slack has left out events, because there were too many in an hour.");
      case "other":
        return;
      case "message": {
        const { message, files, userId } = update;
        const sender = { id: message.sender.id, name: await this.#parts.names.get(userId) };
        const { api, token } = this.#parts;
        const { baseUrl } = this.#options.settings;
        const loadFiles = () => Promise.all(files.map((file) => loadSlackFile(file, { api, token, baseUrl })));
        return await events.onMessage({ ...message, sender, ...(files.length > 0 && { loadFiles }) });
      }
    }
  }
}

/** Slack looks for nothing in a text but what its markup says. */
const plainMarkup = { parse: "none", link_names: false };

const toTarget = ({ channelId, threadId }: ChannelAddress) => ({
  channel: channelId,
  ...(threadId !== undefined && { thread_ts: threadId }),
});

/** Messages are named with their channel, because their times are unique in it only. */
const toMessageId = ({ channel, ts }: SlackResult): string => `${String(channel)}/${String(ts)}`;
const toTimestamp = (messageId: string): string => messageId.split("/").at(-1)!;

const toLost = (failure: SlackFailure): LostConnection => ({
  reason: failure.reason,
  isFinal: failure.kind === "refused",
  isRenewal: false,
  livedMs: 0,
  ...(failure.kind === "not_sent" && failure.retryAfterMs !== undefined && { retryAfterMs: failure.retryAfterMs }),
});

/** Events are JSON; commands are a form, and presses of buttons JSON in a form. The types are those of socket mode. */
function readRequest({ headers, body }: ReceivedRequest): { type: string; body: Readonly<Record<string, unknown>> } {
  const text = body.toString("utf8");
  if (!String(headers["content-type"]).startsWith("application/x-www-form-urlencoded")) {
    const value = toFields(tryParseJson(text));
    return { type: value["type"] === "url_verification" ? "url_verification" : "events_api", body: value };
  }
  const form = new URLSearchParams(text);
  const payload = form.get("payload");
  if (payload !== null) return { type: "interactive", body: toFields(tryParseJson(payload)) };
  return { type: form.has("command") ? "slash_commands" : "other", body: Object.fromEntries(form) };
}

const toFields = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});
