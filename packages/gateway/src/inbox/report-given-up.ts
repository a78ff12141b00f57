import type { Subscriptions } from "../bridge/subscriptions.ts";
import { encodeFrame } from "../encoded-frame.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import { getFirstWords, type StoredMessage, toMessageData } from "./message.ts";

/** Writes a notice about a message that was given up to its session, if that is open. */
export function noticeGivenUp(sessions: Pick<OpenSessions, "find">, message: StoredMessage): void {
  const { sessionId, text, reason = "" } = message;
  const words = `This message was not said: ${getFirstWords(text)} (${reason})`;
  sessions.find(sessionId)?.hosted.session.notify("message_not_said", words);
}

/** Reports a message that was given up to the clients that follow its session. */
export function sendGivenUp(subscriptions: Pick<Subscriptions, "listClients">, message: StoredMessage): void {
  const { sessionId } = message;
  const payload = { sessionId, message: toMessageData(message) };
  const frame = encodeFrame({ type: "event", event: "session.message.given_up", payload });
  for (const client of subscriptions.listClients(sessionId)) client.send(frame);
}
