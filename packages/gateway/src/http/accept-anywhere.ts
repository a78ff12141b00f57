/** Accepts a message where its session is: here, or at another node of the cluster. */
import type { Client } from "../client.ts";
import type { MessageDraft } from "../inbox/session-inbox.ts";
import type { GatewayParts } from "../parts.ts";

/** The name of this between nodes. */
export const acceptCallName = "http.accept";

/** Resolves when the message is on the disk. */
export async function acceptAnywhere(
  { parts, client }: { parts: Pick<GatewayParts, "inbox" | "cluster">; client: Client },
  draft: MessageDraft,
): Promise<{ messageId: string }> {
  const here = () => parts.inbox.accept(draft);
  if (!parts.cluster) return await here();
  const { sessionId } = draft;
  const call = { method: acceptCallName, sessionId, params: { ...draft } };
  return (await parts.cluster.callSession({ client, requestId: client.connectionId }, call, here)) as {
    messageId: string;
  };
}
