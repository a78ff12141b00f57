/** The current branch as Markdown that people read. */
import type { SessionEntry } from "../session/entry.ts";
import { embedMarkdown } from "./embed-markdown.ts";
import {
  currentBranch,
  diffsIn,
  entriesIn,
  type ExportSource,
  type Outline,
  createOutline,
  reattachedText,
  type Trace,
  getTrace,
} from "./source.ts";
import { clean, countText, excerpt, toFields, toJson, getText, timeText, visible, withoutSequences } from "./text.ts";
import { fenced } from "../fence.ts";
import { costText, modelName, getTotals } from "./totals.ts";

export function createSessionMarkdown(source: ExportSource): string {
  const outline = createOutline(source);
  const title = excerpt(outline.name, 200) || `Session ${excerpt(getText(toFields(source.header).id), 60)}`;
  const sections = currentBranch(outline).flatMap((at) => [
    outline.isReattached[at] ? `*${reattachedText}*` : "",
    entryText(outline, at),
  ]);
  return `${[`# ${plain(title)}`, getFacts(source), ...sections].filter(Boolean).join("\n\n")}\n`;
}

function entryText(outline: Outline, at: number): string {
  const entry = outline.entries[at]!;
  const trace = getTrace(entry, outline);
  return trace ? traceText(trace) : getSection(entry, outline.labels.get(at));
}

function getFacts(source: ExportSource): string {
  const header = toFields(source.header);
  const { models, input, output, cacheRead, cacheWrite, cost, lastActive } = getTotals(entriesIn(source));
  const facts = [
    ["Session", getText(header.id)],
    ["Folder", getText(header.cwd)],
    ["Started", timeText(header.timestamp)],
    ["Last entry", timeText(lastActive)],
    ["Models", models.join(", ")],
    ["Tokens", `${countText(input + cacheRead + cacheWrite)} in, ${countText(output)} out`],
    ["Cost", costText(cost)],
  ];
  return facts.flatMap(([name, text = ""]) => (text ? `- ${name}: ${plain(excerpt(text, 500))}` : [])).join("\n");
}

const traceText = (trace: Trace): string =>
  trace.kind === "none" ? "" : `**Outcome of ${plain(excerpt(trace.toolName, 100))}:** unknown`;

function getSection(entry: SessionEntry, label: string | undefined): string {
  const change = getChange(entry);
  if (change) return `**${change.name}:** ${plain(excerpt(change.value, 200)) || "(none)"}`;
  const { title, parts } = section(entry);
  const mark = label === undefined ? "" : ` (${plain(excerpt(label, 80))})`;
  return [`## ${plain(excerpt(title, 200))}${mark}`, ...parts].filter(Boolean).join("\n\n");
}

/** What is said in one line. */
function getChange(entry: SessionEntry): { name: string; value: string } | undefined {
  switch (entry.type) {
    case "model_change":
      return { name: "Model", value: modelName(entry.provider, entry.modelId) };
    case "thinking_level_change":
      return { name: "Thinking level", value: getText(entry.thinkingLevel) };
    case "label":
      return { name: "Label", value: getText(entry.label) };
    case "session_info":
      return { name: "Name", value: getText(entry.name) };
    default:
      return undefined;
  }
}

interface Section {
  title: string;
  parts: string[];
}

type Fields = Readonly<Record<string, unknown>>;

function section(entry: SessionEntry): Section {
  const fields = toFields(entry);
  switch (entry.type) {
    case "message":
      return messageSection(toFields(fields.message));
    case "compaction":
      return { title: "Compaction", parts: [embedMarkdown(getText(fields.summary))] };
    case "branch_summary":
      return { title: "Branch summary", parts: [embedMarkdown(getText(fields.summary))] };
    case "custom_message":
      return { title: `Message of ${getText(fields.customType)}`, parts: contentParts(fields.content) };
    default: {
      const { type, id: _id, parentId: _parentId, timestamp: _timestamp, ...data } = fields;
      return { title: `Entry: ${getText(type)}`, parts: [fence(toJson(data), "json")] };
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
      const why = isError ? [`**${message.stopReason === "error" ? "Error" : "Aborted"}**`] : [];
      const reason = isError && message.errorMessage !== undefined ? [fence(getText(message.errorMessage))] : [];
      const title = `Assistant (${modelName(message.provider, message.model)})`;
      return { title, parts: [...contentParts(content), ...why, ...reason] };
    }
    case "toolResult": {
      const title = `${message.isError === true ? "Error" : "Result"} of ${getText(message.toolName)}`;
      const diffs = diffsIn(message.details).map((diff) => fence(diff, "diff"));
      return { title, parts: [...resultParts(content), ...diffs] };
    }
    case "bashExecution": {
      const ended =
        message.cancelled === true
          ? "Cancelled."
          : message.exitCode
            ? `Exit code ${excerpt(getText(message.exitCode), 60)}.`
            : "";
      const parts = [fence(getText(message.command), "sh"), outputFence(getText(message.output)), plain(ended)];
      return { title: "Command", parts };
    }
    case "custom":
      return { title: `Message of ${getText(message.customType)}`, parts: contentParts(content) };
    case "branchSummary":
    case "compactionSummary": {
      const title = message.role === "branchSummary" ? "Branch summary" : "Compaction";
      return { title, parts: [embedMarkdown(getText(message.summary))] };
    }
    default:
      return { title: `Message of ${getText(message.role)}`, parts: [fence(toJson(message), "json")] };
  }
}

function contentParts(content: unknown): string[] {
  if (!Array.isArray(content)) return [embedMarkdown(getText(content))];
  return content.flatMap((block: unknown) => {
    const fields = toFields(block);
    switch (fields.type) {
      case "text":
        return embedMarkdown(getText(fields.text));
      case "thinking":
        return getText(fields.thinking) ? [`**Thinking**`, fence(getText(fields.thinking))] : [];
      case "toolCall":
        return [`**Call of ${plain(excerpt(getText(fields.name), 100))}**`, fence(toJson(fields.arguments), "json")];
      case "image":
        return `(a picture, ${plain(excerpt(getText(fields.mimeType), 60))})`;
      default:
        return fence(toJson(block), "json");
    }
  });
}

/** Output is never Markdown. */
function resultParts(content: unknown): string[] {
  if (!Array.isArray(content)) return [outputFence(getText(content))];
  return content.flatMap((block: unknown) => {
    const fields = toFields(block);
    return fields.type === "text" ? outputFence(getText(fields.text)) : contentParts([block]);
  });
}

/** Nothing for no text. */
const fence = (text: string, language?: string): string =>
  text.trim() === "" ? "" : fenced(clean(visible(text)), language);

const outputFence = (output: string): string => (output.trim() === "" ? "" : fenced(clean(withoutSequences(output))));

/** One line of text that means nothing to Markdown or HTML. An underscore inside a word means nothing anyway. */
const plain = (text: string): string =>
  text
    .replace(/[\\`*[\]>&]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&")
    // A backslash would not do: after an address it is read as a part of the address.
    .replaceAll("<", "&lt;");
