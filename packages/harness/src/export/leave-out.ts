/** Leaves parts of a session out of what is shared. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { ExportPart } from "@tau/protocol";
import { getNestedCall, type SessionEntry } from "../session/entry.ts";
import type { ExportSource } from "./source.ts";

/**
 * Nothing of these parts remains, wherever an entry has it: thinking with its signatures, images also in results and in the
 * data of extensions. `output` is what tools and commands have answered, with their details and what is kept about
 * calls; arguments of calls stay, and so does what the model says about results.
 */
export function leaveOut(source: ExportSource, parts: readonly ExportPart[]): ExportSource {
  if (parts.length === 0) return source;
  const left = new Set(parts);
  const entries = source.entries.map((entry) => (left.has("output") ? withoutOutput(entry) : entry));
  return { ...source, entries: withoutBlocks(entries, left) as SessionEntry[] };
}

const outputNote = [{ type: "text", text: "(The output is left out.)" }];
const imageNote = { type: "text", text: "(An image is left out.)" };

function withoutOutput(entry: SessionEntry): unknown {
  if (!isRecord(entry)) return entry;
  switch (entry.type) {
    case "message":
      return { ...entry, message: withoutResult(entry.message) };
    case "custom":
      return { ...entry, data: toCall(entry) };
    case "custom_message":
    case "compaction":
    case "branch_summary":
      return omit(entry, ["details"]);
    case "context_edit":
      return entry.replacement === null ? entry : { ...entry, replacement: { content: outputNote } };
    case "model_change":
    case "thinking_level_change":
    case "permission_mode":
    case "label":
    case "session_info":
    case "usage":
    case "queue":
    case "prefix":
      return entry;
    default:
      return pick(entry, ["type", "id", "parentId", "timestamp"]);
  }
}

function withoutResult(message: unknown): unknown {
  if (!isRecord(message)) return message;
  switch (message["role"]) {
    case "toolResult":
      return { ...pick(message, ["role", "toolCallId", "toolName", "isError", "timestamp"]), content: outputNote };
    case "bashExecution":
      return { ...omit(message, ["fullOutputPath"]), output: outputNote[0]!.text };
    case "assistant":
      return omit(message, ["diagnostics"]);
    case "user":
      return message;
    case "custom":
    case "branchSummary":
    case "compactionSummary":
      return omit(message, ["details"]);
    default:
      return pick(message, ["role"]);
  }
}

/** Keeps what tells the page whose call it was, and that it was answered. */
function toCall(entry: SessionEntry): unknown {
  const { data } = entry as { data?: unknown };
  if (!isRecord(data)) return undefined;
  const call = pick(data, ["toolCallId", "toolName"]);
  return getNestedCall(entry)
    ? { ...call, ...pick(data, ["parentToolCallId", "input", "isError"]), content: [] }
    : call;
}

function withoutBlocks(value: unknown, left: ReadonlySet<ExportPart>): unknown {
  if (Array.isArray(value)) {
    return value.flatMap((each: unknown) => (isThinking(each, left) ? [] : [withoutBlocks(each, left)]));
  }
  if (!isRecord(value)) return value;
  if (isThinking(value, left)) return undefined;
  if (left.has("images") && value["type"] === "image") return imageNote;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutBlocks(each, left)]));
}

const isThinking = (value: unknown, left: ReadonlySet<ExportPart>): boolean =>
  left.has("thinking") && isRecord(value) && value["type"] === "thinking";

type Fields = Readonly<Record<string, unknown>>;

const omit = (fields: object, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

const pick = (fields: object, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
