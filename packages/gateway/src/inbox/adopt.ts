import type { AcceptedEntry } from "@tau/protocol";
import type { StoredMessage } from "./message.ts";

/** A message of a session's own queue as one of the inbox. It keeps its id. */
export function toAdopted(
  { queueId: id, kind, content }: AcceptedEntry,
  { sessionId, acceptedAt }: { sessionId: string; acceptedAt: number },
): StoredMessage {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const images = blocks.flatMap((block) => (block.type === "image" ? [block] : []));
  return {
    id,
    sessionId,
    text: blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
    ...(images.length > 0 && { images }),
    mode: kind === "steer" ? "steer" : "followup",
    origin: { kind: "client" },
    acceptedAt,
    state: "waiting",
  };
}
