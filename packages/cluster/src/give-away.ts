import { getErrorMessage } from "@tau/ai/internal";
import type { ClusterGateway } from "@tau/gateway/port";
import type { Following } from "./following.ts";
import { RemoteClient } from "./remote-client.ts";

interface GiveAwayParts extends Pick<ClusterGateway, "sessions" | "subscriptions"> {
  following: Following;
  log: (line: string) => void;
}

/** Closes a session that is lost to this node. Clients that follow it continue wherever it is opened next. */
export function giveAway({ sessions, subscriptions, following, log }: GiveAwayParts, sessionId: string): void {
  const open = sessions.find(sessionId);
  if (!open) return;
  const clients = subscriptions.listClients(sessionId);
  for (const client of clients) {
    subscriptions.remove(client, sessionId);
    // Its own node follows it again.
    if (client instanceof RemoteClient) subscriptions.tellClosed(client, sessionId, "moved");
  }
  const closing = open.hosted.abort("gateway_disconnected").then(() => sessions.close(sessionId, "moved"));
  const closed = closing.catch((error: unknown) => log(`The session ${sessionId} was lost: ${getErrorMessage(error)}`));
  for (const client of clients) void following.followAgain(client, sessionId, closed);
}
