/** An entry of a log in a few words. Total: a log is read without being checked. Pure. */
import type { SessionEntry } from "@tau/harness/session";

export interface EntryWords {
  who: string;
  text: string;
  /** False for what only programs care about. */
  isShown: boolean;
}

export function describeEntry(entry: SessionEntry): EntryWords {
  const shown = (who: string, text: string): EntryWords => ({ who, text, isShown: true });
  const hidden = (who: string, text = ""): EntryWords => ({ who, text, isShown: false });
  switch (entry.type) {
    case "message":
      return describeMessage(toFields(entry.message));
    case "compaction":
      return shown("compaction", plain(entry.summary));
    case "branch_summary":
      return shown("branch summary", plain(entry.summary));
    case "custom_message":
      return shown(plain(entry.customType), textIn(entry.content));
    case "model_change":
      return shown("model", `${plain(entry.provider)}/${plain(entry.modelId)}`);
    case "session_info":
      return hidden("name", plain(entry.name));
    case "label":
      return hidden("label", plain(entry.label));
    default:
      return hidden(plain(entry.type));
  }
}

function describeMessage(message: Record<string, unknown>): EntryWords {
  const role = plain(message["role"]);
  const isShown = true;
  if (role === "toolResult") {
    const failed = message["isError"] === true ? " (failed)" : "";
    return { who: `${plain(message["toolName"])}${failed}`, text: textIn(message["content"]), isShown };
  }
  if (role === "bashExecution") return { who: "bash", text: plain(message["command"]), isShown };
  const calls = callsIn(message["content"]);
  const text = textIn(message["content"]);
  return { who: role, text: [text, ...calls].filter((part) => part !== "").join(" "), isShown };
}

const callsIn = (content: unknown): string[] =>
  Array.isArray(content)
    ? content.map(toFields).flatMap((block) => (block["type"] === "toolCall" ? `[${plain(block["name"])}]` : []))
    : [];

function textIn(content: unknown): string {
  if (!Array.isArray(content)) return plain(content);
  return content
    .map(toFields)
    .map((block) => plain(block["text"]))
    .join(" ")
    .trim();
}

const toFields = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** The beginning is enough for a line. */
const plain = (value: unknown): string => (typeof value === "string" ? value.slice(0, 2_000) : "");
