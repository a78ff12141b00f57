/** Deltas are what most events are: an answer has thousands. */
import type { Delta, SessionEvent } from "./event.ts";

export const isDelta = (event: SessionEvent): event is Delta => "delta" in event;

/** Whether the text of `next` belongs right behind that of `delta`. */
export function continues(next: Delta, delta: Delta): boolean {
  if (next.type !== delta.type || next.messageId !== delta.messageId) return false;
  return next.type !== "toolcall_delta" || next.toolCallId === (delta as typeof next).toolCallId;
}
