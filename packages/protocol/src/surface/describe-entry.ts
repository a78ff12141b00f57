/** Describes an entry in one line. Accepts any entry, because a log is not validated. Pure. */
import type { ModelChangeEntry, SessionEntry } from "../entry.ts";
import { type Fields, getText, toFields } from "./fields.ts";

export interface EntryDescription {
  author: string;
  text: string;
}

/** Describes an entry of the conversation, or a change of the model. Undefined for an entry that only programs need. */
export function describeEntry(entry: SessionEntry): EntryDescription | undefined {
  switch (entry.type) {
    case "message":
      return describeMessage(toFields(entry.message));
    case "compaction":
      return { author: "compaction", text: getStart(entry.summary) };
    case "branch_summary":
      return { author: "branch summary", text: getStart(entry.summary) };
    case "custom_message":
      return { author: getStart(entry.customType), text: describeContent(entry.content) };
    case "model_change":
      return { author: "model", text: getStart(formatModelChange(entry)) };
    default:
      return undefined;
  }
}

/** Formats a model with its role and why it is used: `provider/id (@role): reason`. Fields of a log may be anything. */
export function formatModelChange(entry: Pick<ModelChangeEntry, "provider" | "modelId" | "role" | "reason">): string {
  const { provider, modelId, role, reason } = entry;
  const ofRole = typeof role === "string" ? ` (@${role})` : "";
  const why = typeof reason === "string" ? `: ${reason}` : "";
  return `${getStart(provider)}/${getStart(modelId)}${ofRole}${why}`;
}

/** Describes any entry, also one that only programs need. */
export function describeAnyEntry(entry: SessionEntry): EntryDescription {
  const described = describeEntry(entry);
  if (described) return described;
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

function describeMessage({ role, content, toolName, isError, command }: Fields): EntryDescription {
  if (role === "bashExecution") return { author: "bash", text: getStart(command) };
  const author = role === "toolResult" ? `${getStart(toolName)}${isError === true ? " (failed)" : ""}` : getStart(role);
  return { author, text: describeContent(content) };
}

/** The text, then the names of the tool calls in brackets. */
function describeContent(content: unknown): string {
  if (!Array.isArray(content)) return getStart(content);
  const blocks = content.map(toFields);
  const calls = blocks.flatMap((block) => (block["type"] === "toolCall" ? `[${getStart(block["name"])}]` : []));
  return [...blocks.map((block) => getStart(block["text"])), ...calls].filter((part) => part !== "").join(" ");
}

/** The beginning is enough for one line. */
const getStart = (value: unknown): string => getText(value).slice(0, 2_000);
