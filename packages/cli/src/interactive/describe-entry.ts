/** One line about an entry of the tree. Pure. */
import type { SessionEntry } from "@tau/protocol";
import { describeEntry as describeConversation, type EntryDescription } from "../commands/describe-entry.ts";

/** Also of the entries that only programs need. */
export function describeEntry(entry: SessionEntry): EntryDescription {
  const known = describeConversation(entry);
  if (known) return known;
  switch (entry.type) {
    case "thinking_level_change":
      return { author: "thinking", text: entry.thinkingLevel };
    case "permission_mode":
      return { author: "permissions", text: entry.mode };
    case "label":
      return { author: "label", text: entry.label ?? "removed" };
    case "session_info":
      return { author: "name", text: entry.name ?? "removed" };
    default:
      return { author: entry.type, text: "" };
  }
}

/** Whether it is an answer that only calls tools. */
export function isWordless(entry: SessionEntry): boolean {
  if (entry.type !== "message" || entry.message.role !== "assistant") return false;
  return getAnswerText(entry).trim() === "";
}

/** The whole text of an answer; empty for any other entry. */
export function getAnswerText(entry: SessionEntry): string {
  if (entry.type !== "message" || entry.message.role !== "assistant") return "";
  return entry.message.content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n");
}

/** The whole text of a user message; undefined for any other entry. */
export function getUserText(entry: SessionEntry): string | undefined {
  if (entry.type !== "message" || entry.message.role !== "user") return undefined;
  const { content } = entry.message;
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n");
}
