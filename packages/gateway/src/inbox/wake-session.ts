/** Looks again at what waits for a session, at the node of a cluster that runs it. */
import type { GatewayParts } from "../parts.ts";

/** Throws `moved` if another node runs the session. */
export async function wakeSession({ sessions, cluster, inbox }: GatewayParts, sessionId: string): Promise<null> {
  await sessions.open(sessionId);
  // Another node may have stored messages since the session was opened here.
  await cluster?.inbox.load(sessionId);
  inbox.wake(sessionId);
  return null;
}
