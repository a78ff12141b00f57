/** One line about an entry. Accepts any entry, because a log is not validated. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { SessionEntry } from "@tau/protocol";

export interface EntryDescription {
  author: string;
  text: string;
}

/** Undefined for an entry that only programs need. */
export function describeEntry(entry: SessionEntry): EntryDescription | undefined {
  switch (entry.type) {
    case "message":
      return describeMessage(isRecord(entry.message) ? entry.message : {});
    case "compaction":
      return { author: "compaction", text: toText(entry.summary) };
    case "branch_summary":
      return { author: "branch summary", text: toText(entry.summary) };
    case "custom_message":
      return { author: toText(entry.customType), text: getContentText(entry.content) };
    case "model_change":
      return { author: "model", text: `${toText(entry.provider)}/${toText(entry.modelId)}` };
    default:
      return undefined;
  }
}

function describeMessage({ role, content, toolName, isError, command }: Record<string, unknown>): EntryDescription {
  if (role === "bashExecution") return { author: "bash", text: toText(command) };
  const author = role === "toolResult" ? `${toText(toolName)}${isError === true ? " (failed)" : ""}` : toText(role);
  return { author, text: getContentText(content) };
}

/** The text, then the names of the tool calls in brackets. */
function getContentText(content: unknown): string {
  if (!Array.isArray(content)) return toText(content);
  const blocks = content.filter(isRecord);
  const calls = blocks.flatMap((block) => (block["type"] === "toolCall" ? `[${toText(block["name"])}]` : []));
  return [...blocks.map((block) => toText(block["text"])), ...calls].filter((part) => part !== "").join(" ");
}

/** The beginning is enough for one line. */
const toText = (value: unknown): string => (typeof value === "string" ? value.slice(0, 2_000) : "");
