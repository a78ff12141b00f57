import { encodeFrame } from "../encoded-frame.ts";
import type { GatewayParts } from "../parts.ts";
import { getFirstWords, type StoredMessage, toMessageData } from "./message.ts";

/** Reports a message that was given up: as a notice in its session, if that is open, and to those who follow it. */
export function reportGivenUp({ sessions, subscriptions }: GatewayParts, message: StoredMessage): void {
  const { sessionId, text, reason = "" } = message;
  const words = `This message was not said: ${getFirstWords(text)} (${reason})`;
  sessions.find(sessionId)?.hosted.session.notify("message_not_said", words);
  const payload = { sessionId, message: toMessageData(message) };
  const frame = encodeFrame({ type: "event", event: "session.message.given_up", payload });
  for (const client of subscriptions.listClients(sessionId)) client.send(frame);
}
