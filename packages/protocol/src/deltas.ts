/** Putting deltas together. An answer has thousands, and a surface draws a few times per second. */
import type { Delta, SessionEvent } from "./event.ts";

export const isDelta = (event: SessionEvent): event is Delta => "delta" in event;

/** As few deltas as say the same: neighbours that continue each other become one. */
export function mergeDeltas(deltas: readonly Delta[]): Delta[] {
  const merged: Delta[] = [];
  let start = 0;
  for (const [index, delta] of deltas.entries()) {
    const next = deltas[index + 1];
    if (next && continues(next, delta)) continue;
    const text = deltas.slice(start, index + 1).map((part) => part.delta);
    merged.push({ ...deltas[start]!, delta: text.join("") });
    start = index + 1;
  }
  return merged;
}

function continues(next: Delta, delta: Delta): boolean {
  if (next.type !== delta.type || next.messageId !== delta.messageId) return false;
  return next.type !== "toolcall_delta" || next.toolCallId === (delta as typeof next).toolCallId;
}
