import type { GatewayClient, RemoteSession } from "@tau/protocol/client";

/**
 * The session, for what must not happen later: throws without a connection. What was sent before the connection is lost is
 * asked for again, with its key, so that its outcome is known.
 */
export function getConnected({ client, session }: { client: GatewayClient; session: RemoteSession }): RemoteSession {
  if (client.state.kind !== "open") throw new Error("There is no connection to the gateway.");
  return session;
}
