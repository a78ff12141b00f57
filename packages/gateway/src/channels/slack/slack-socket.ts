/** Opens a connection of Slack's socket mode with Slack's own library. Whether and when there is another is decided outside. */
import { getErrorMessage, isRecord, tryParseJson } from "@tau/ai/internal";
import type { Clock } from "@tau/ai";
import { getClientOptions } from "./slack-api.ts";
import { type SlackFailure, toFailure } from "./slack-answer.ts";

interface SlackSocketOptions {
  readonly appToken: string;
  readonly baseUrl: string | undefined;
  /** Closes the connection, also one that is being made. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** An envelope is acknowledged when this resolves. Slack sends one again that is not. */
  readonly onEnvelope: (type: string, body: unknown) => Promise<void>;
  readonly log: (line: string) => void;
}

/** Why a connection is over. `isRenewal`: Slack has asked for another one, and takes it at once. */
interface SocketEnd {
  readonly reason: string;
  readonly isRenewal: boolean;
}

type OpenedSocket = { readonly kind: "open"; readonly ended: Promise<SocketEnd> } | SlackFailure;

const helloTimeoutMs = 20_000;
const envelopeTypes: readonly unknown[] = ["events_api", "interactive", "slash_commands"];

/** Resolves when Slack has said that the connection is ready. */
export async function openSlackSocket(options: SlackSocketOptions): Promise<OpenedSocket> {
  const { appToken, baseUrl, signal, clock, onEnvelope, log } = options;
  const { SocketModeClient, LogLevel } = await import("./slack-libraries.ts");
  /** The last thing that the library complained about says best why a connection was lost. */
  let complaint = "Slack closed the connection.";
  const complain = (...parts: unknown[]) =>
    void (complaint = parts.map(String).join(" ").replaceAll(appToken, "[secret]"));
  const client = new SocketModeClient({
    appToken,
    autoReconnectEnabled: false,
    clientOptions: getClientOptions({ baseUrl, signal }),
    logger: {
      debug: () => {},
      info: () => {},
      warn: complain,
      error: complain,
      setLevel: () => {},
      getLevel: () => LogLevel.WARN,
      setName: () => {},
    },
  });
  let end = (_end: SocketEnd) => {};
  const ended = new Promise<SocketEnd>((resolve) => (end = resolve));
  // The library would reject a promise of its own, which nobody sees, for a frame that it cannot read.
  const handlers = client.listeners("ws_message");
  client.removeAllListeners("ws_message");
  client.on("ws_message", (data: unknown, isBinary: boolean) => {
    const frame = isBinary ? undefined : tryParseJson(String(data));
    const kind = classifyFrame(frame);
    if (kind === "unreadable") return;
    if (kind === "disconnect") end(readDisconnect((frame as Record<string, unknown>)["reason"]));
    for (const handle of handlers) handle(data, isBinary);
  });
  client.on("slack_event", ({ ack, type, body }: { ack: () => Promise<void>; type: string; body: unknown }) => {
    const take = async () => {
      await onEnvelope(type, body);
      await ack();
    };
    take().catch((error: unknown) => log(`Slack will send a message again: ${getErrorMessage(error)}`));
  });
  client.once("disconnected", () => end({ reason: complaint, isRenewal: false }));
  const close = () => {
    // The first call says goodbye, and the second one does not wait for an answer to that.
    for (let count = 0; count < 2; count++) void client.disconnect();
  };
  signal.addEventListener("abort", close, { once: true });
  // The library does not look again before it connects.
  client.once("connecting", () => signal.aborted && queueMicrotask(close));
  const cancelTimeout = clock.setTimer(helloTimeoutMs, () => {
    complain("Slack did not say hello in time.");
    close();
  });
  void ended.then(() => signal.removeEventListener("abort", close));
  try {
    await client.start();
    if (signal.aborted) close();
    return { kind: "open", ended };
  } catch (error) {
    // Without an error, the connection was closed before it was ready.
    return error === undefined ? { kind: "not_sent", reason: complaint } : hideToken(toFailure(error), appToken);
  } finally {
    cancelTimeout();
  }
}

/** Whether the library can read a frame. Pure. */
export function classifyFrame(frame: unknown): "hello" | "disconnect" | "envelope" | "unreadable" {
  if (!isRecord(frame)) return "unreadable";
  const { type, payload, envelope_id: id } = frame;
  if (type === "hello" || type === "disconnect") return type;
  if (!envelopeTypes.includes(type) || typeof id !== "string" || !isRecord(payload)) return "unreadable";
  if (type !== "events_api") return "envelope";
  const { event } = payload;
  return isRecord(event) && typeof event["type"] === "string" ? "envelope" : "unreadable";
}

/** Reads why Slack ends a connection. Pure. */
function readDisconnect(reason: unknown): SocketEnd {
  switch (reason) {
    case "warning":
    case "refresh_requested":
      return { reason: "Slack renews the connection.", isRenewal: true };
    case "link_disabled":
      return {
        reason: "Socket mode is turned off for the app. Turn it on at https://api.slack.com/apps.",
        isRenewal: false,
      };
    default:
      return { reason: `Slack ended the connection: ${String(reason).slice(0, 100)}.`, isRenewal: false };
  }
}

const hideToken = (failure: SlackFailure, token: string): SlackFailure => ({
  ...failure,
  reason: failure.reason.replaceAll(token, "[secret]"),
});
