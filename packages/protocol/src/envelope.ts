/** How an event crosses a wire with many sessions: a name, a payload, a number. Names are those of seed 000. */
import type { SessionEvent } from "./event.ts";

export interface EventEnvelope {
  type: "event";
  event: WireEventName;
  payload: Record<string, unknown>;
  /** One more with each event of a connection: who misses one can tell. */
  seq: number;
  /** Of the state that the event belongs to: who reconnects can ask for what came after. */
  stateVersion: number;
}

export type WireEventName = (typeof names)[SessionEvent["type"]];

/** Every kind of event has a name: one that had none would be lost without a word. */
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
  session_compacted: "session.compacted",
  model_changed: "session.model.changed",
  queue_changed: "session.queue.changed",
  approval_requested: "session.approval.requested",
  approval_resolved: "session.approval.resolved",
  retry_scheduled: "session.retry.scheduled",
  cache_break: "session.cache.broken",
  notice: "session.notice",
} as const satisfies Record<SessionEvent["type"], string>;

/** The event as one session of many reports it. Pure: whoever sends it gives the numbers. */
export function wrapEvent(
  event: SessionEvent,
  { sessionId, seq, stateVersion }: { sessionId: string; seq: number; stateVersion: number },
): EventEnvelope {
  const { type, ...fields } = event;
  const status = getStatus(event);
  return {
    type: "event",
    event: names[type],
    payload: { sessionId, ...(status !== undefined && { status }), ...fields, eventType: type },
    seq,
    stateVersion,
  };
}

const getStatus = ({ type }: SessionEvent) =>
  type === "agent_start" ? "running" : type === "agent_end" ? "idle" : undefined;

/** The event in an envelope; undefined for one of a later version. */
export function unwrapEvent({ payload }: EventEnvelope): SessionEvent | undefined {
  const { eventType, status: _said, ...fields } = payload;
  if (typeof eventType !== "string" || !Object.hasOwn(names, eventType)) return undefined;
  const { sessionId, ...others } = fields;
  const hasSession = eventType === "agent_start" || eventType === "agent_end";
  return { type: eventType, ...others, ...(hasSession && { sessionId }) } as unknown as SessionEvent;
}
