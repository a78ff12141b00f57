/** Deletes a session, which can be taken back. */
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { getConnected } from "../app/get-connected.ts";
import { reportFailure, tell } from "../app/problems.tsx";
import { getShownSession, showSession } from "../app/route.ts";
import { toShortName } from "../text/visible-text.ts";

const maxTitle = 80;

export async function deleteSession(client: GatewayClient, session: RemoteSession, title: string): Promise<void> {
  const sessionId = session.id;
  await getConnected({ client, session }).call("delete_session", { session: sessionId });
  if (getShownSession() === sessionId) showSession(undefined);
  const restore = async () => {
    await client.call("session.restore_session", { sessionId, session: sessionId });
    showSession(sessionId);
  };
  tell(`Deleted: ${toShortName(title, maxTitle)}`, { label: "Undo", run: () => reportFailure(restore()) });
}
