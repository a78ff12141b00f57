/** The events of a session that a program embeds, for any object that sends events to those who follow sessions. */
import type { AgentSession } from "@tau/harness";
import { createSessionFrameRedactor, type FrameRedactor } from "@tau/harness/host";
import { type NamedEvent, nameEvent, type SessionEvent } from "@tau/protocol";

/** A frame that a gateway sends for an event. */
export interface BroadcastFrame {
  type: "event";
  event: string;
  payload: Record<string, unknown>;
  seq: number;
  stateVersion: number;
}

/** The part of a gateway that `subscribeEmbeddedPiSession` needs. */
export interface EventGateway {
  broadcastToSession(sessionId: string, frame: BroadcastFrame): unknown;
  /** Called once for each frame. */
  nextSeq(): number;
  currentStateVersion(): number;
}

/** The name and payload of an event of a session; null for one that clients do not need. */
export const translatePiEvent = (event: SessionEvent, sessionId: string): NamedEvent | null =>
  nameEvent(event, sessionId) ?? null;

/** Broadcasts every event of a session, without the keys that it uses. Returns how to stop. */
export function subscribeEmbeddedPiSession(
  session: AgentSession,
  gateway: EventGateway,
  gatewaySessionId: string,
): () => void {
  const redactor = createSessionFrameRedactor(session);
  return session.onSessionEvent((event) => {
    for (const each of redactor.redactEvent(event)) {
      const translated = translatePiEvent(each, gatewaySessionId);
      if (!translated) continue;
      gateway.broadcastToSession(gatewaySessionId, {
        type: "event",
        event: translated.name,
        payload: redact(translated.payload, redactor),
        seq: gateway.nextSeq(),
        stateVersion: gateway.currentStateVersion(),
      });
    }
  });
}

function redact(payload: NamedEvent["payload"], { redactLine }: FrameRedactor): NamedEvent["payload"] {
  const line = JSON.stringify(payload);
  const redacted = redactLine(line);
  return redacted === line ? payload : (JSON.parse(redacted) as NamedEvent["payload"]);
}
