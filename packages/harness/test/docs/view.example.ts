import type { AgentSession } from "@tau/harness";
import { reduce, type View, viewFromEntries } from "@tau/protocol";

/** Calls `draw` with what there is to see, now and after every event. Returns how to stop. */
export async function follow(session: AgentSession, draw: (view: View) => void): Promise<() => void> {
  let view = viewFromEntries(await session.sessionManager.getEntries()); // what was said before
  draw(view);
  return session.onSessionEvent((event) => {
    view = reduce(view, event);
    draw(view);
  });
}
