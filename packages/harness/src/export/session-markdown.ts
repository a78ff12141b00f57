/** Writes the current branch of a session as Markdown. */
import { getDiffs } from "@tau/protocol/surface";
import { fenced } from "../fence.ts";
import type { SessionEntry } from "../session/entry.ts";
import { embedMarkdown } from "./embed-markdown.ts";
import {
  type Bookkeeping,
  classifyBookkeeping,
  createOutline,
  type ExportSource,
  formatContextEdit,
  getCurrentBranch,
  getEntries,
  type Outline,
  reattachedText,
} from "./source.ts";
import {
  clean,
  excerpt,
  type Fields,
  formatCount,
  formatTime,
  toText,
  removeEscapeSequences,
  showHidden,
  toFields,
  splitCode,
  toJson,
} from "./text.ts";
import { formatChosenModel, formatCost, formatModel, formatUsage, getTotals } from "./totals.ts";

export function createSessionMarkdown(source: ExportSource): string {
  const outline = createOutline(source);
  const title = excerpt(outline.name, 200) || `Session ${excerpt(toText(toFields(source.header).id), 60)}`;
  const sections = getCurrentBranch(outline).flatMap((index) => [
    outline.isReattached[index] ? `*${reattachedText}*` : "",
    formatEntry(outline, index),
  ]);
  return `${[`# ${escapeMarkdown(title)}`, formatMetadata(source), ...sections].filter(Boolean).join("\n\n")}\n`;
}

function formatEntry(outline: Outline, index: number): string {
  const entry = outline.entries[index]!;
  const bookkeeping = classifyBookkeeping(entry, outline);
  return bookkeeping ? formatBookkeeping(bookkeeping) : formatSection(entry, outline.labels.get(index));
}

function formatMetadata(source: ExportSource): string {
  const header = toFields(source.header);
  const { models, input, output, cacheRead, cacheWrite, cost, lastActive } = getTotals(getEntries(source));
  const rows = [
    ["Session", toText(header.id)],
    ["Folder", toText(header.cwd)],
    ["Started", formatTime(header.timestamp)],
    ["Last entry", formatTime(lastActive)],
    ["Models", models.join(", ")],
    ["Tokens", `${formatCount(input + cacheRead + cacheWrite)} in, ${formatCount(output)} out`],
    ["Cost", formatCost(cost)],
  ];
  return rows
    .flatMap(([name, text = ""]) => (text ? `- ${name}: ${escapeMarkdown(excerpt(text, 500))}` : []))
    .join("\n");
}

const formatBookkeeping = (bookkeeping: Bookkeeping): string =>
  bookkeeping.kind === "internal"
    ? ""
    : `**Outcome of ${escapeMarkdown(excerpt(bookkeeping.toolName, 100))}:** unknown`;

function formatSection(entry: SessionEntry, label: string | undefined): string {
  const change = getChange(entry);
  if (change) return `**${change.name}:** ${escapeMarkdown(excerpt(change.value, 200)) || "(none)"}`;
  const { title, parts } = createSection(entry);
  const suffix = label === undefined ? "" : ` (${escapeMarkdown(excerpt(label, 80))})`;
  return [`## ${escapeMarkdown(excerpt(title, 200))}${suffix}`, ...parts].filter(Boolean).join("\n\n");
}

/** Entries that take one line; undefined for all others. */
function getChange(entry: SessionEntry): { name: string; value: string } | undefined {
  switch (entry.type) {
    case "model_change":
      return { name: "Model", value: formatChosenModel(entry.provider, entry.modelId, entry.role) };
    case "thinking_level_change":
      return { name: "Thinking level", value: toText(entry.thinkingLevel) };
    case "permission_mode":
      return { name: "Permission mode", value: toText(entry.mode) };
    case "label":
      return { name: "Label", value: toText(entry.label) };
    case "session_info":
      return { name: "Name", value: toText(entry.name) };
    case "usage": {
      const model = formatModel(entry.provider, entry.model);
      return {
        name: "Usage",
        value: [toText(entry.kind), model, formatUsage(entry.usage)].filter(Boolean).join(" · "),
      };
    }
    case "context_edit":
      return { name: "Context edit", value: formatContextEdit(entry.replacement) };
    case "queue":
      return { name: "Message not sent", value: toText(toFields(entry).reason) };
    default:
      return undefined;
  }
}

interface Section {
  title: string;
  parts: string[];
}

function createSection(entry: SessionEntry): Section {
  const fields = toFields(entry);
  switch (entry.type) {
    case "message":
      return messageSection(toFields(fields.message));
    case "compaction":
      return { title: "Compaction", parts: [embedMarkdown(toText(fields.summary))] };
    case "branch_summary":
      return { title: "Branch summary", parts: [embedMarkdown(toText(fields.summary))] };
    case "custom_message":
      return { title: `Message of ${toText(fields.customType)}`, parts: contentParts(fields.content) };
    default: {
      const { type, id: _id, parentId: _parentId, timestamp: _timestamp, ...data } = fields;
      return { title: `Entry: ${toText(type)}`, parts: [fence(toJson(data), "json")] };
    }
  }
}

function messageSection(message: Fields): Section {
  const { content } = message;
  switch (message.role) {
    case "user":
      return { title: "User", parts: contentParts(content) };
    case "assistant": {
      const isError = message.stopReason === "error" || message.stopReason === "aborted";
      const failure = isError ? [`**${message.stopReason === "error" ? "Error" : "Aborted"}**`] : [];
      const reason = isError && message.errorMessage !== undefined ? [fence(toText(message.errorMessage))] : [];
      const title = `Assistant (${formatModel(message.provider, message.model)})`;
      return { title, parts: [...contentParts(content), ...failure, ...reason] };
    }
    case "toolResult": {
      const title = `${message.isError === true ? "Error" : "Result"} of ${toText(message.toolName)}`;
      const diffs = getDiffs(message.details).map((diff) => fence(diff, "diff"));
      return { title, parts: [...resultParts(content), ...diffs] };
    }
    case "bashExecution": {
      const outcome =
        message.cancelled === true
          ? "Cancelled."
          : message.exitCode
            ? `Exit code ${excerpt(toText(message.exitCode), 60)}.`
            : "";
      const parts = [
        fence(toText(message.command), "sh"),
        outputFence(toText(message.output)),
        escapeMarkdown(outcome),
      ];
      return { title: "Command", parts };
    }
    case "custom":
      return { title: `Message of ${toText(message.customType)}`, parts: contentParts(content) };
    case "branchSummary":
    case "compactionSummary": {
      const title = message.role === "branchSummary" ? "Branch summary" : "Compaction";
      return { title, parts: [embedMarkdown(toText(message.summary))] };
    }
    default:
      return { title: `Message of ${toText(message.role)}`, parts: [fence(toJson(message), "json")] };
  }
}

function contentParts(content: unknown): string[] {
  if (!Array.isArray(content)) return [embedMarkdown(toText(content))];
  return content.flatMap((block: unknown) => {
    const fields = toFields(block);
    switch (fields.type) {
      case "text":
        return embedMarkdown(toText(fields.text));
      case "thinking":
        return toText(fields.thinking) ? [`**Thinking**`, fence(toText(fields.thinking))] : [];
      case "toolCall":
        return callParts(fields);
      case "image":
        return `(image: ${escapeMarkdown(excerpt(toText(fields.mimeType), 60))})`;
      default:
        return fence(toJson(block), "json");
    }
  });
}

function callParts({ name, arguments: args }: Fields): string[] {
  const title = `**Call of ${escapeMarkdown(excerpt(toText(name), 100))}**`;
  const { code, language, rest } = splitCode(toFields(args), ["code"]);
  return code === "" ? [title, fence(toJson(args), "json")] : [title, fence(code, language), fence(rest, "json")];
}

/** Output is not parsed as Markdown. */
function resultParts(content: unknown): string[] {
  if (!Array.isArray(content)) return [outputFence(toText(content))];
  return content.flatMap((block: unknown) => {
    const fields = toFields(block);
    return fields.type === "text" ? outputFence(toText(fields.text)) : contentParts([block]);
  });
}

/** Empty if the text is. */
const fence = (text: string, language?: string): string =>
  text.trim() === "" ? "" : fenced(clean(showHidden(text)), language);

const outputFence = (output: string): string =>
  output.trim() === "" ? "" : fenced(clean(removeEscapeSequences(output)));

/** Escapes a line of text. An underscore inside a word needs no escape. */
const escapeMarkdown = (text: string): string =>
  text
    .replace(/[\\`*[\]>&]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&")
    // A backslash would not do: after an address it is read as a part of the address.
    .replaceAll("<", "&lt;");
