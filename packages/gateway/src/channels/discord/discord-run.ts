/** Keeps an account connected: finds out who it is, connects, and connects again with growing pauses. */
import { type RESTGetAPIGatewayBotResult, Routes } from "@discordjs/core";
import type { Clock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ChannelEvents, ChannelOptions } from "@tau/extensions";
import { pause } from "../pause.ts";
import type { DiscordFailure } from "./discord-answer.ts";
import type { DiscordApi } from "./discord-api.ts";
import { getFinalReason, holdConnection, unknownToken } from "./discord-connection.ts";
import { DiscordPosition } from "./discord-position.ts";
import { DiscordReceiver } from "./discord-receiver.ts";

interface RunOptions extends ChannelOptions {
  readonly api: DiscordApi;
  readonly token: string;
  readonly events: ChannelEvents;
  readonly signal: AbortSignal;
}

/** Why there is no connection. */
interface Lost {
  readonly reason: string;
  /** It makes no sense to try again: the token is wrong, for example. */
  readonly isFinal: boolean;
  readonly retryAfterMs?: number;
}

const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
/** Discord wants this much time between two identifications. */
const identifyIntervalMs = 5_000;

/** Resolves when the signal is aborted, or when a person has to change something first. */
export async function receiveFromDiscord(options: RunOptions): Promise<void> {
  const { events, clock, log, signal } = options;
  const position = new DiscordPosition(options.position);
  await position.load();
  const connect = createConnect(options, position);
  for (let failures = 0; !signal.aborted; failures++) {
    events.onState({ kind: "connecting" });
    const lost = await connect(() => {
      failures = 0;
      events.onState({ kind: "connected" });
    });
    // With the next start the session is resumed from here.
    await position
      .save()
      .catch((error: unknown) => log(`The position in Discord is not saved: ${getErrorMessage(error)}`));
    if (signal.aborted) return;
    if (lost.isFinal) return events.onState({ kind: "failed", reason: lost.reason });
    const forMs = Math.max(lost.retryAfterMs ?? 0, Math.min(firstPauseMs * 2 ** failures, maxPauseMs));
    events.onState({ kind: "waiting", reason: lost.reason, forMs });
    await pause(clock, forMs, signal);
  }
}

/** Returns a function that connects once, and resolves when the connection is lost. */
function createConnect(options: RunOptions, position: DiscordPosition) {
  const { api, token, events, settings, clock, log, signal } = options;
  const waitForIdentify = createIdentifyThrottle(clock);
  let receiver: DiscordReceiver | undefined;
  return async (onConnected: () => void): Promise<Lost> => {
    if (!receiver) {
      const self = await api.call((platform) => platform.users.getCurrent());
      if (self.kind !== "ok") return toLost(self);
      const parts = { api, position, events, selfId: self.value.id, baseUrl: settings.baseUrl, clock, log, signal };
      receiver = new DiscordReceiver(parts);
    }
    const gateway = await api.call(() => api.rest.get(Routes.gatewayBot()) as Promise<RESTGetAPIGatewayBotResult>);
    if (gateway.kind !== "ok") return toLost(gateway);
    const { url, session_start_limit: limit } = gateway.value;
    if (!/^wss?:\/\//.test(url) || !URL.canParse(url)) {
      return { reason: "Discord named no address of its gateway.", isFinal: false };
    }
    if (limit.remaining < 1) {
      const reason = "The bot has been connected as often as Discord allows in a day.";
      return { reason, isFinal: false, retryAfterMs: limit.reset_after };
    }
    const receiving = receiver;
    const session = { get: () => position.getSession(), set: position.setSession.bind(position) };
    const end = await holdConnection({
      gatewayInformation: gateway.value,
      token,
      session,
      waitForIdentify,
      onReady: (isResumed) => {
        onConnected();
        if (!isResumed) void receiving.catchUp();
      },
      onDispatch: (payload) => receiving.take(payload),
      signal,
    });
    const final = getFinalReason(end);
    return { reason: final ?? end.reason, isFinal: final !== undefined };
  };
}

function createIdentifyThrottle(clock: Clock) {
  let lastAt = -Infinity;
  return async (closed: AbortSignal): Promise<void> => {
    await pause(clock, Math.max(0, lastAt + identifyIntervalMs - clock.now()), closed);
    closed.throwIfAborted();
    lastAt = clock.now();
  };
}

function toLost(failure: DiscordFailure): Lost {
  if (failure.kind === "unauthorized") return { reason: unknownToken, isFinal: true };
  const { reason } = failure;
  return { reason, isFinal: false, ...(failure.kind === "limited" && { retryAfterMs: failure.retryAfterMs }) };
}
