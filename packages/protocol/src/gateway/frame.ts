/**
 * Frames that cross the WebSocket of a gateway: one JSON object in each message. A client asks with `req`, each of which gets
 * one `res`; the gateway reports with `event`. Fields that are not listed here are refused.
 */
import type { EventEnvelope } from "../envelope.ts";
import type { UiDialog, UiNote } from "../ui-request.ts";
import type { View } from "../view.ts";
import type { InboxMessageData, OpenSessionData } from "./methods.ts";

/** Version that both sides must speak. A client names the range that it supports. */
export const gatewayProtocol = 2;

export interface RequestFrame {
  type: "req";
  /** Chosen by the client; the response has it. */
  id: string;
  method: string;
  params?: Record<string, unknown>;
}

export type ResponseFrame =
  | { type: "res"; id: string; ok: true; payload: unknown }
  | { type: "res"; id: string; ok: false; error: GatewayFault };

export interface GatewayFault {
  code: GatewayErrorCode;
  /** A whole sentence, for people. */
  message: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  retryAfterMs?: number;
}

/** Errors of a request. Codes of the session's own errors, such as `busy`, come as they are. */
export type GatewayErrorCode =
  | "unauthorized"
  | "forbidden"
  | "invalid_frame"
  | "invalid_parameters"
  | "unknown_method"
  | "not_found"
  | "conflict"
  | "rate_limited"
  | "too_large"
  | "unavailable"
  | "unknown_outcome"
  | "internal"
  | (string & Record<never, never>);

/** An event of a session, with its place in the session's stream. */
export type SessionEventFrame = EventEnvelope;

/** The state of a session at a position: a client that has missed events continues from it. */
export interface SnapshotFrame {
  type: "event";
  event: "session.snapshot";
  payload: { sessionId: string; view: View };
  seq: number;
  epoch: string;
  stateVersion: number;
}

/** An event of the gateway itself. It has no position in a session's stream. */
export type GatewayEventFrame =
  | { type: "event"; event: "connect.challenge"; payload: ChallengePayload }
  /** The gateway stops, and may come back. */
  | { type: "event"; event: "gateway.stopping"; payload: { restartExpectedMs?: number } }
  /** A session was closed, deleted or taken by another node: it has to be opened again. */
  | { type: "event"; event: "session.closed"; payload: { sessionId: string; reason: string } }
  /**
   * The session has messages, and waits until a run of it may begin. `position` is its place in the line, from 1; left out
   * when it waits no longer. Sent to clients that follow it.
   */
  | { type: "event"; event: "session.waiting"; payload: { sessionId: string; position?: number } }
  /** A message was given up, and will not be said unless somebody replays it. Sent to clients that follow the session. */
  | { type: "event"; event: "session.message.given_up"; payload: { sessionId: string; message: InboxMessageData } }
  /** Output of `session.bash` while it runs; `id` is that of the request. */
  | { type: "event"; event: "session.bash.output"; payload: { sessionId: string; id: string; delta: string } }
  /**
   * Sessions that were opened or closed, or whose list entry has changed. One that is not open has its id alone. Sent to
   * clients that called `sessions.watch`.
   */
  | { type: "event"; event: "sessions.changed"; payload: { sessions: (OpenSessionData | { sessionId: string })[] } }
  | DialogFrame;

/**
 * Questions and notes of a session's extensions. Sent to clients that follow the session and have the ability `ui`, and
 * those that are still open or shown once more after each `sessions.subscribe`: whoever follows it again forgets what it
 * has before.
 */
export type DialogFrame =
  /** Answered with `dialogs.answer`. Only for clients with the scope `approve`. */
  | { type: "event"; event: "session.dialog.requested"; payload: { sessionId: string; id: string; dialog: UiDialog } }
  /** It was answered, its time is up, or the extension took it back. */
  | { type: "event"; event: "session.dialog.resolved"; payload: { sessionId: string; id: string } }
  | { type: "event"; event: "session.dialog.note"; payload: { sessionId: string; note: UiNote } };

/** The names of what a gateway says besides the events of sessions. */
export const gatewayEventNames = [
  "connect.challenge",
  "gateway.stopping",
  "session.closed",
  "session.waiting",
  "session.message.given_up",
  "session.bash.output",
  "sessions.changed",
  "session.dialog.requested",
  "session.dialog.resolved",
  "session.dialog.note",
  "session.snapshot",
] as const satisfies readonly (GatewayEventFrame | SnapshotFrame)["event"][];

export type EventFrame = SessionEventFrame | SnapshotFrame | GatewayEventFrame;

export type Frame = RequestFrame | ResponseFrame | EventFrame;

/** The first frame of a connection. */
export interface ChallengePayload {
  /** Random, and good for this connection only. */
  nonce: string;
  protocol: { min: number; max: number };
}
