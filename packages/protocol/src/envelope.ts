/** How an event crosses a wire that carries many sessions: a name, a payload and numbers. */
import type { SessionEvent } from "./event.ts";

export interface EventEnvelope {
  type: "event";
  event: WireEventName;
  payload: Record<string, unknown>;
  /** Counts the events of a session from 1; a gap means that events were missed. */
  seq: number;
  /** New whenever a process takes the session: `seq` starts again with it. */
  epoch: string;
  /** The number of entries in the session's log. */
  stateVersion: number;
}

/** Where an event stands in the stream of its session. */
export type EventPosition = Pick<EventEnvelope, "seq" | "epoch" | "stateVersion">;

export type WireEventName = (typeof names)[SessionEvent["type"]];

/** Every kind of event has a name. */
const names = {
  agent_start: "session.status.changed",
  agent_end: "session.status.changed",
  turn_start: "session.turn.started",
  turn_end: "session.turn.ended",
  message_start: "session.message.started",
  message_end: "session.message.ended",
  text_delta: "session.message.delta",
  thinking_delta: "session.thinking.delta",
  toolcall_delta: "session.toolcall.delta",
  tool_execution_start: "session.tool.started",
  tool_execution_update: "session.tool.updated",
  tool_execution_end: "session.tool.ended",
  error: "session.error",
  entry_appended: "session.entry.appended",
  session_branched: "session.branched",
  compaction_start: "session.compaction.started",
  compaction_end: "session.compaction.ended",
  tool_denied: "session.tool.denied",
  model_changed: "session.model.changed",
  model_used: "session.model.used",
  queue_changed: "session.queue.changed",
  approval_requested: "session.approval.requested",
  approval_resolved: "session.approval.resolved",
  retry_scheduled: "session.retry.scheduled",
  cache_break: "session.cache.broken",
  jobs_changed: "session.jobs.changed",
  permission_mode_changed: "session.permissions.changed",
  notice: "session.notice",
} as const satisfies Record<SessionEvent["type"], string>;

/** Every name, once. */
export const wireEventNames: readonly WireEventName[] = [...new Set(Object.values(names))];

/** The name of an event on a wire, and its payload there. */
export interface NamedEvent {
  name: WireEventName;
  payload: EventEnvelope["payload"];
}

/** The one table from events to the wire. Undefined for a kind that this version does not know. */
export function nameEvent(event: SessionEvent, sessionId: string): NamedEvent | undefined {
  const { type, ...fields } = event;
  if (!Object.hasOwn(names, type)) return undefined;
  const status = getStatus(event);
  // A gateway may know the session by another id than the session itself.
  const payload = { ...fields, sessionId, ...(status !== undefined && { status }), eventType: type };
  return { name: names[type], payload };
}

/** Puts an event of a session into an envelope. */
export function wrapEvent(event: SessionEvent, sessionId: string, position: EventPosition): EventEnvelope {
  const { name, payload } = nameEvent(event, sessionId)!;
  return { type: "event", event: name, payload, ...position };
}

const getStatus = ({ type }: SessionEvent) =>
  type === "agent_start" ? "running" : type === "agent_end" ? "idle" : undefined;

/** The event in an envelope; undefined for a kind that this version does not know. */
export function unwrapEvent({ payload }: EventEnvelope): SessionEvent | undefined {
  const { eventType, status: _status, ...fields } = payload;
  if (typeof eventType !== "string" || !Object.hasOwn(names, eventType)) return undefined;
  const { sessionId, ...others } = fields;
  const hasSession = eventType === "agent_start" || eventType === "agent_end";
  return { type: eventType, ...others, ...(hasSession && { sessionId }) } as unknown as SessionEvent;
}
