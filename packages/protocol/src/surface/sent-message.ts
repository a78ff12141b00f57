/** A message that somebody else has sent to a session, as the model and people read it. Pure. */

const maxNameLength = 80;

/**
 * The sender is quoted and on a line of its own: it cannot be read as a part of the message. A line of the text that looks like
 * that line is marked as part of the text.
 */
export function formatSentMessage(sender: string, text: string): string {
  const plain = sender.replaceAll(unshown, " ").replaceAll(/\s+/g, " ").trim().slice(0, maxNameLength).toWellFormed();
  const name = plain === "" ? "somebody" : plain;
  return `Message from ${JSON.stringify(name)}, sent to this session by another program:\n${text.replaceAll(heading, "> ")}`;
}

const unshown = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const heading = /^(?=[\p{Cf}\p{Z}\t]*Message from ")/gimu;
