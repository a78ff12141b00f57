/** Deletes a session, which can be taken back. */
import type { GatewayClient } from "@tau/protocol/client";
import { reportFailure, tell } from "../app/problems.tsx";
import { getShownSession, showSession } from "../app/route.ts";
import { toSafeName } from "../text/visible-text.ts";

const maxTitle = 80;

export async function deleteSession(client: GatewayClient, sessionId: string, title: string): Promise<void> {
  // Not later: by then somebody may have gone on with it.
  await client.call("session.delete_session", { sessionId, session: sessionId }, { isLasting: false });
  if (getShownSession() === sessionId) showSession(undefined);
  const restore = async () => {
    await client.call("session.restore_session", { sessionId, session: sessionId });
    showSession(sessionId);
  };
  const name = toSafeName(title).slice(0, maxTitle).toWellFormed();
  tell(`Deleted: ${name}`, { label: "Undo", run: () => reportFailure(restore()) });
}
