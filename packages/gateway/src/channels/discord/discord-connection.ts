/**
 * Holds one connection to Discord's gateway, from the first byte to the last. The library speaks the protocol: heartbeats,
 * identification and resumption. When the connection is lost, the library's own attempt to connect again is kept from
 * running, because it knows no growing pauses and forgets the session when the network fails.
 */
import { type GatewayDispatchPayload, GatewayIntentBits } from "@discordjs/core";
import { type SessionInfo, WebSocketManager, WebSocketShardEvents } from "@discordjs/ws";
import { getErrorMessage } from "@tau/ai/internal";
import type { DiscordApi } from "./discord-api.ts";

/** Where a session of the gateway is kept, with which it is resumed. */
interface DiscordSessionStore {
  get(): SessionInfo | null;
  set(session: SessionInfo | null): void;
}

interface ConnectionOptions {
  readonly api: DiscordApi;
  readonly token: string;
  readonly session: DiscordSessionStore;
  /** Resolves when the account may identify; rejects when the signal is aborted. */
  readonly waitForIdentify: (signal: AbortSignal) => Promise<void>;
  readonly onReady: (isResumed: boolean) => void;
  readonly onDispatch: (payload: GatewayDispatchPayload) => void;
  readonly signal: AbortSignal;
}

/** Why a connection is over. */
interface ConnectionEnd {
  /** The code of the WebSocket. Undefined: there was no connection. */
  readonly code?: number;
  readonly reason: string;
}

const intents =
  GatewayIntentBits.Guilds |
  GatewayIntentBits.GuildMessages |
  GatewayIntentBits.DirectMessages |
  GatewayIntentBits.MessageContent;

/** Tells Discord that the session will be resumed. With 1000 it would be gone. */
const resumableCode = 4200;

/** Resolves when the connection is over, or soon after the signal is aborted. Never rejects. */
export async function holdConnection(options: ConnectionOptions): Promise<ConnectionEnd> {
  const { api, token, session, signal } = options;
  let isOver = false;
  let isOpen = false;
  let socketError: Error | undefined;
  const manager = new WebSocketManager({
    token,
    rest: api.rest,
    intents,
    shardCount: 1,
    // The library asks before it connects: it never gets further than this again.
    retrieveSessionInfo: () => (isOver ? new Promise<null>(() => {}) : session.get()),
    updateSessionInfo: (_shardId, info) => {
      // A session outlives failures of the network, and the end of this process.
      if (info !== null || !(socketError || signal.aborted)) session.set(info);
    },
    buildIdentifyThrottler: () => ({ waitForIdentify: (_shardId, closed) => options.waitForIdentify(closed) }),
  });
  const close = () => void manager.destroy({ code: resumableCode });
  return await new Promise((resolve) => {
    const end = (ended: ConnectionEnd) => {
      isOver = true;
      signal.removeEventListener("abort", onAbort);
      resolve(ended);
    };
    const onAbort = () => {
      // A socket that is not open yet is closed as soon as it is: the library cannot close it before.
      if (isOpen) close();
      end({ reason: "" });
    };
    manager.on(WebSocketShardEvents.Hello, () => {
      isOpen = true;
      if (isOver) close();
    });
    manager.on(WebSocketShardEvents.SocketError, (error) => void (socketError = error));
    manager.on(WebSocketShardEvents.Closed, (code) => {
      const why = socketError ? `: ${getErrorMessage(socketError)}` : ` with the code ${code}.`;
      end({ code, reason: `Discord's gateway closed the connection${why}` });
    });
    manager.on(WebSocketShardEvents.Ready, () => options.onReady(false));
    manager.on(WebSocketShardEvents.Resumed, () => options.onReady(true));
    manager.on(WebSocketShardEvents.Dispatch, (payload) => {
      if (!isOver) options.onDispatch(payload);
    });
    // What it reports closes the connection too.
    manager.on(WebSocketShardEvents.Error, () => {});
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    manager.connect().catch((error: unknown) => end({ reason: getErrorMessage(error) }));
  });
}

export const unknownToken =
  "Discord does not know the token. Copy a new one from the page Bot of the developer portal, and store it with: tau channels login";

/** Why the account cannot be connected until a person has changed something, by the code of the WebSocket. */
const finalCodes: Readonly<Record<number, string>> = {
  4004: unknownToken,
  4010: "Discord refused the number of the shard.",
  4011: "The bot is in more servers than one connection can serve.",
  4012: "Discord does not know this version of its gateway any more; a newer tau may.",
  4013: "Discord refused the intents.",
  4014: "The bot may not read messages: turn on Message Content Intent on the page Bot of https://discord.com/developers/applications.",
};

/** Undefined: the account may connect again. */
export const getFinalReason = ({ code }: ConnectionEnd): string | undefined =>
  code === undefined ? undefined : finalCodes[code];
