/** Writes a message of a channel so that the model reads who wrote it. Pure. */
import type { IncomingMessage } from "./channel.ts";
import { toPlainName } from "./peers.ts";

/** `savedFiles` are the paths of files that came with it, in the workspace. */
export function formatMessage(
  { peer, sender, text }: Pick<IncomingMessage, "peer" | "sender" | "text">,
  savedFiles: readonly string[] = [],
): string {
  const files = savedFiles.length === 0 ? [] : ["", `Files that came with it: ${savedFiles.join(", ")}`];
  if (peer.kind === "direct") return [text, ...files].join("\n").trim();
  // The name is quoted and on a line of its own: it cannot be read as a part of the message, or as the system.
  const name = JSON.stringify(toPlainName(sender.name));
  return [`Message of ${name}, whose id is ${JSON.stringify(sender.id)}:`, text, ...files].join("\n").trim();
}
