/** The text of an entry that searches look at. Accepts any entry, because a log is not validated. Pure. */
import { asRecord } from "@tau/ai/internal";
import { getNestedCall, type SessionEntry } from "../session/entry.ts";

interface SearchText {
  /** A role, or the kind of the entry. */
  author: string;
  text: string;
  /** The entry at which a hit opens, if it is not this one. */
  targetId?: string;
}

/** How many characters of a tool's output are searched. */
const maxOutputLength = 4096;

/** Undefined for an entry that people do not read. */
export function getSearchText(entry: SessionEntry): SearchText | undefined {
  const found = readEntry(entry);
  return found && found.text !== "" ? found : undefined;
}

function readEntry(entry: SessionEntry): SearchText | undefined {
  switch (entry.type) {
    case "message":
      return readMessage(asRecord(entry.message));
    case "compaction":
      return { author: "compaction", text: toText(entry.summary) };
    case "branch_summary":
      return { author: "branch summary", text: toText(entry.summary) };
    case "custom_message":
      return entry.display ? { author: toText(entry.customType), text: joinContent(entry.content) } : undefined;
    case "session_info":
      return { author: "name", text: toText(entry.name) };
    case "label":
      return {
        author: "label",
        text: toText(entry.label),
        ...(toText(entry.targetId) && { targetId: entry.targetId }),
      };
    case "custom":
      return readNestedCall(entry);
    default:
      return undefined;
  }
}

function readNestedCall(entry: SessionEntry): SearchText | undefined {
  const call = getNestedCall(entry);
  if (!call) return undefined;
  const output = joinContent(call.content).slice(0, maxOutputLength);
  return { author: call.toolName, text: `${joinStrings(call.input)}\n${output}` };
}

function readMessage(message: Record<string, unknown>): SearchText | undefined {
  const { role, content } = message;
  switch (role) {
    case "toolResult":
      return { author: toText(message["toolName"]), text: joinContent(content).slice(0, maxOutputLength) };
    case "bashExecution":
      return {
        author: "bash",
        text: `${toText(message["command"])}\n${toText(message["output"]).slice(0, maxOutputLength)}`,
      };
    case "custom":
      return message["display"] === false ? undefined : { author: "custom", text: joinContent(content) };
    case "branchSummary":
    case "compactionSummary":
      return { author: "summary", text: toText(message["summary"]) };
    default:
      return { author: toText(role), text: joinContent(content) };
  }
}

/** Texts, thinking and the arguments of calls. */
function joinContent(content: unknown): string {
  if (!Array.isArray(content)) return toText(content);
  const parts = (content as readonly unknown[]).map((block) => {
    const { type, text, thinking, arguments: args } = asRecord(block);
    if (type === "toolCall") return joinStrings(args);
    return toText(type === "thinking" ? thinking : text);
  });
  return parts.filter((part) => part !== "").join("\n");
}

/** All texts in a value, however deep. */
function joinStrings(value: unknown): string {
  const texts: string[] = [];
  // A stack of our own, since arguments may be nested deeper than calls can be.
  const pending = [value];
  while (pending.length > 0) {
    const item = pending.pop();
    if (typeof item === "string") texts.push(item);
    else if (typeof item === "object" && item !== null)
      for (const inner of Object.values(item).toReversed()) pending.push(inner);
  }
  return texts.join("\n");
}

const toText = (value: unknown): string => (typeof value === "string" ? value : "");
