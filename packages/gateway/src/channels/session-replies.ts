/** Turns what a session says into replies of its conversation. Pure. */
import { toVisibleLine } from "@tau/policy";
import type { Approval, SessionEntry } from "@tau/protocol";
import { listCommandLines } from "@tau/protocol/surface";
import type { ChannelButton } from "@tau/extensions";
import { isSilentText } from "./decide-stream.ts";
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
  { buttons, ...options }: ReplyOptions & { buttons?: readonly ChannelButton[] },
): StoredReply[] {
  const parts = splitText(text, options.maxTextLength);
  return parts.map((part, index) => ({
    ...createReply(part, { id, index }, options),
    ...(buttons && index === parts.length - 1 && { buttons }),
  }));
}

/** A part of an answer that is still being written. The complete answer has the same `id`. */
export const createDraft = (text: string, part: { id: string; index: number }, options: ReplyOptions): StoredReply => ({
  ...createReply(text, part, options),
  isOpen: true,
});

/** The name of the text that a reply is a part of. */
export const getTextId = ({ id }: Pick<StoredReply, "id">): string => id.slice(0, id.lastIndexOf("/"));

function createReply(
  text: string,
  { id, index }: { id: string; index: number },
  { conversation, nowMs }: ReplyOptions,
): StoredReply {
  const { sessionId, accountId, address, sourceMessageId } = conversation;
  const reply = { id: `${id}/${index}`, sessionId, accountId, address, text, recordedAt: nowMs };
  return index === 0 ? { ...reply, replyTo: sourceMessageId } : reply;
}

/** The text that people get of an entry: that of an answer, without thinking and calls. Empty for everything else. */
export function getReplyText(entry: SessionEntry): string {
  if (entry.type !== "message" || entry.silent === true || entry.message.role !== "assistant") return "";
  const { content, stopReason } = entry.message;
  // A failed or aborted answer is reported with the end of its run.
  if (stopReason === "error" || stopReason === "aborted" || typeof content === "string") return "";
  const text = content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n\n")
    .trim();
  // Beside a call it is no silent answer, but nobody is to read the word either.
  return isSilentText(text) ? "" : text;
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

/**
 * How a question of the policy reads in a chat, and the buttons below it. What would run is in a block of code: nothing in it is
 * markup, which could hide a part, and nothing in it can be taken for the words below.
 */
export function formatQuestion({ id, summary, reason, commands = [] }: Approval): {
  text: string;
  buttons: ChannelButton[];
} {
  const lines = [summary, reason, ...listCommandLines(commands)].map((line) =>
    toVisibleLine(line, Infinity).replaceAll("```", "``\\u{60}"),
  );
  const block = ["```", ...lines, "```"].join("\n");
  const text = `${block}\n\nAnswer with /approve ${id} yes, or /approve ${id} no.`;
  const buttons = [
    { label: "Allow once", value: `/approve ${id} yes` },
    { label: "Deny", value: `/approve ${id} no` },
  ];
  return { text, buttons };
}
