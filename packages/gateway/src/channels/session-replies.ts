/** Turns what a session says into replies of its conversation. Pure. */
import type { SessionEntry } from "@tau/protocol";
import type { Approval } from "@tau/protocol";
import type { ChannelButton } from "./channel.ts";
import type { Conversation, StoredReply } from "./records.ts";
import { splitText } from "./split-text.ts";

interface ReplyOptions {
  readonly conversation: Conversation;
  readonly maxTextLength: number;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** The replies that a text is sent as. `id` names the text: the same one makes the same replies. */
export function createReplies(
  text: string,
  id: string,
  options: ReplyOptions & { buttons?: readonly ChannelButton[] },
) {
  const { conversation, maxTextLength, nowMs, buttons } = options;
  const { sessionId, accountId, address, sourceMessageId } = conversation;
  const parts = splitText(text, maxTextLength);
  return parts.map((part, index): StoredReply => ({
    id: `${id}/${index}`,
    sessionId,
    accountId,
    address,
    text: part,
    recordedAt: nowMs,
    ...(index === 0 && { replyTo: sourceMessageId }),
    ...(buttons && index === parts.length - 1 && { buttons }),
  }));
}

/** The text that people get of an entry: that of an answer, without thinking and calls. Empty for everything else. */
export function getReplyText(entry: SessionEntry): string {
  if (entry.type !== "message" || entry.silent === true || entry.message.role !== "assistant") return "";
  const { content, stopReason } = entry.message;
  // A failed or aborted answer is reported with the end of its run.
  if (stopReason === "error" || stopReason === "aborted" || typeof content === "string") return "";
  return content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n\n")
    .trim();
}

/** The entries of a branch whose replies are not recorded. */
export function listUnanswered(
  branch: readonly SessionEntry[],
  answeredEntryId: string | undefined,
): readonly SessionEntry[] {
  const index = branch.findLastIndex(({ id }) => id === answeredEntryId);
  return branch.slice(index + 1).filter((entry) => getReplyText(entry) !== "");
}

/** Whether the last message of a person, for whom an answer is expected, has none: the run was cut or ended by a stop. */
export function isUnfinished(branch: readonly SessionEntry[]): boolean {
  const last = branch.findLast((entry) => entry.type === "message");
  if (last?.type !== "message") return false;
  const { message } = last;
  return message.role !== "assistant" || message.stopReason === "toolUse" || message.stopReason === "aborted";
}

/** How a question of the policy reads in a chat, and the buttons below it. */
export function formatQuestion({ id, summary, reason, commands }: Approval): {
  text: string;
  buttons: ChannelButton[];
} {
  const lines = (commands ?? []).map((argv) => `\`${argv.join(" ").replaceAll("`", "'")}\``);
  const text = [summary, reason, ...lines, `Answer with /approve ${id} yes, or /approve ${id} no.`].join("\n");
  const buttons = [
    { label: "Allow once", value: `/approve ${id} yes` },
    { label: "Deny", value: `/approve ${id} no` },
  ];
  return { text, buttons };
}
