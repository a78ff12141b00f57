/**
 * Holds one connection to Discord's gateway, from the first byte to the last. The library speaks the protocol: heartbeats,
 * identification and resumption. When the connection is lost, the library's own attempt to connect again is kept from
 * running, because it knows no growing pauses, forgets the session when the network fails, and throws when it is told twice.
 */
import { type GatewayDispatchPayload, GatewayIntentBits, type RESTGetAPIGatewayBotResult } from "@discordjs/core";
import {
  CloseCodes,
  DefaultWebSocketManagerOptions,
  type SessionInfo,
  WebSocketShard,
  WebSocketShardDestroyRecovery,
  WebSocketShardEvents,
} from "@discordjs/ws";
import { getErrorMessage } from "@tau/ai/internal";

/** Where a session of the gateway is kept, with which it is resumed. */
interface DiscordSessionStore {
  get(): SessionInfo | null;
  set(session: SessionInfo | null): void;
}

interface ConnectionOptions {
  readonly gatewayInformation: RESTGetAPIGatewayBotResult;
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
  const { gatewayInformation, token, session, signal } = options;
  let isOver = false;
  let isOpen = false;
  let keepsSession = false;
  let socketError: Error | undefined;
  const shard = new WebSocketShard(
    {
      options: { ...DefaultWebSocketManagerOptions, gatewayInformation, token, intents, shardCount: 1 },
      retrieveSessionInfo: () => session.get(),
      updateSessionInfo: (_shardId, info) => {
        if (info !== null || !keepsSession) session.set(info);
      },
      waitForIdentify: (_shardId, closed) => options.waitForIdentify(closed),
    },
    0,
  );
  return await new Promise((resolve) => {
    const end = (ended: ConnectionEnd) => {
      isOver = true;
      signal.removeEventListener("abort", onAbort);
      resolve(ended);
    };
    const closeWith = shard.destroy.bind(shard);
    let closing: Promise<void> | undefined;
    // Once, however many orders to connect again come at a time, and without the library's attempt to do so.
    shard.destroy = ({ code, recover, reason = "Discord's gateway did not answer." } = {}) => {
      // A session outlives failures of the network, and the end of this process.
      keepsSession ||= recover === WebSocketShardDestroyRecovery.Resume || socketError !== undefined || signal.aborted;
      closing ??= closeWith({ code: code ?? (keepsSession ? resumableCode : CloseCodes.Normal), reason }).then(
        () => end({ reason }),
        (error: unknown) => end({ reason: getErrorMessage(error) }),
      );
      return closing;
    };
    const close = () => void shard.destroy({ code: resumableCode, recover: WebSocketShardDestroyRecovery.Resume });
    catchFailures(shard, (error) => {
      end({ reason: `The connection to Discord's gateway failed: ${getErrorMessage(error)}` });
      close();
    });
    const onAbort = () => {
      // A socket that is not open yet is closed as soon as it is: the library cannot close it before.
      if (isOpen) close();
      end({ reason: "" });
    };
    shard.on(WebSocketShardEvents.Hello, () => {
      isOpen = true;
      if (isOver) close();
    });
    shard.on(WebSocketShardEvents.SocketError, (error) => void (socketError = error));
    shard.on(WebSocketShardEvents.Closed, (code) => {
      const why = socketError ? `: ${getErrorMessage(socketError)}` : ` with the code ${code}.`;
      end({ code, reason: `Discord's gateway closed the connection${why}` });
    });
    shard.on(WebSocketShardEvents.Ready, () => options.onReady(false));
    shard.on(WebSocketShardEvents.Resumed, () => options.onReady(true));
    shard.on(WebSocketShardEvents.Dispatch, (payload) => {
      if (!isOver) options.onDispatch(payload);
    });
    // What it reports closes the connection too.
    shard.on(WebSocketShardEvents.Error, () => {});
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    shard.connect().catch((error: unknown) => end({ reason: getErrorMessage(error) }));
  });
}

/** Methods that the library calls without looking at how they end. */
const detachedMethods = ["internalConnect", "onMessage", "onClose", "heartbeat"] as const;

/** Reports what these methods throw: it would end the process, and a frame of Discord without data is enough. */
function catchFailures(shard: WebSocketShard, onFailure: (error: unknown) => void): void {
  const methods = shard as unknown as Record<
    (typeof detachedMethods)[number],
    (...args: unknown[]) => Promise<unknown>
  >;
  for (const name of detachedMethods) {
    const method = methods[name].bind(shard);
    methods[name] = (...args) => method(...args).catch(onFailure);
  }
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
