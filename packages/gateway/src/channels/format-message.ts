/** Writes a message of a channel so that the model reads who wrote it. Pure. */
import type { IncomingMessage } from "@tau/extensions";
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
  const own = text.replaceAll(headings, "> ");
  return [`Message of ${name}, whose id is ${JSON.stringify(sender.id)}:`, own, ...files].join("\n").trim();
}

/** Lines of a text that could be taken for the beginning of another person's message, or for its files. */
const headings = /^(?=[\p{Cf}\p{Z}\t]*(?:Message of "|Files that came with it:))/gimu;
