import type { AgentSession } from "@tau/harness";
import { reduce, type View, viewOfLog, type WireEntry } from "@tau/protocol";

/** Calls `draw` with what there is to see, now and after every event. Returns how to stop. */
export async function follow(session: AgentSession, draw: (view: View) => void): Promise<() => void> {
  const entries = await session.sessionManager.getEntries(); // of a session that goes on
  let view = viewOfLog(entries.map((entry): WireEntry => ({ ...entry })));
  draw(view);
  return session.onSessionEvent((event) => {
    view = reduce(view, event);
    draw(view);
  });
}
