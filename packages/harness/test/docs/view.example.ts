import type { AgentSession } from "@tau/harness";
import { reduce, type View, viewFromEntries } from "@tau/protocol";

/** Calls `draw` with the view, now and after every event. Returns a function that stops it. */
export async function follow(session: AgentSession, draw: (view: View) => void): Promise<() => void> {
  let view = viewFromEntries(await session.sessionManager.getEntries()); // the conversation so far
  draw(view);
  return session.onSessionEvent((event) => {
    view = reduce(view, event);
    draw(view);
  });
}
