/** The current branch as Markdown that people read. */
import type { SessionEntry } from "../session/entry.ts";
import { prose } from "./prose.ts";
import {
  currentBranch,
  diffsIn,
  entriesIn,
  type ExportSource,
  type Outline,
  outlineOf,
  reattachedText,
  type Trace,
  traceOf,
} from "./source.ts";
import { clean, countText, excerpt, fieldsOf, jsonOf, textOf, timeText, visible, withoutSequences } from "./text.ts";
import { fenced } from "../fence.ts";
import { costText, modelName, totalsOf } from "./totals.ts";

/**
 * Outside of lists and quotes, headings of the first two levels are ours alone, and no text of the session can hide or swallow what comes after it.
 * Pictures are named, not shown. Never throws, whatever the entries hold.
 */
export function exportMarkdown(source: ExportSource): string {
  const outline = outlineOf(source);
  const title = excerpt(outline.name, 200) || `Session ${excerpt(textOf(fieldsOf(source.header).id), 60)}`;
  const sections = currentBranch(outline).flatMap((at) => [
    outline.isReattached[at] ? `*${reattachedText}*` : "",
    entryText(outline, at),
  ]);
  return `${[`# ${plain(title)}`, factsOf(source), ...sections].filter(Boolean).join("\n\n")}\n`;
}

function entryText(outline: Outline, at: number): string {
  const entry = outline.entries[at]!;
  const trace = traceOf(entry, outline);
  return trace ? traceText(trace) : sectionOf(entry, outline.labels.get(at));
}

function factsOf(source: ExportSource): string {
  const header = fieldsOf(source.header);
  const { models, input, output, cacheRead, cacheWrite, cost, lastActive } = totalsOf(entriesIn(source));
  const facts = [
    ["Session", textOf(header.id)],
    ["Folder", textOf(header.cwd)],
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

function sectionOf(entry: SessionEntry, label: string | undefined): string {
  const change = changeOf(entry);
  if (change) return `**${change.name}:** ${plain(excerpt(change.value, 200)) || "(none)"}`;
  const { title, parts } = section(entry);
  const mark = label === undefined ? "" : ` (${plain(excerpt(label, 80))})`;
  return [`## ${plain(excerpt(title, 200))}${mark}`, ...parts].filter(Boolean).join("\n\n");
}

/** What is said in one line. */
function changeOf(entry: SessionEntry): { name: string; value: string } | undefined {
  switch (entry.type) {
    case "model_change":
      return { name: "Model", value: modelName(entry.provider, entry.modelId) };
    case "thinking_level_change":
      return { name: "Thinking level", value: textOf(entry.thinkingLevel) };
    case "label":
      return { name: "Label", value: textOf(entry.label) };
    case "session_info":
      return { name: "Name", value: textOf(entry.name) };
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
  const fields = fieldsOf(entry);
  switch (entry.type) {
    case "message":
      return messageSection(fieldsOf(fields.message));
    case "compaction":
      return { title: "Compaction", parts: [prose(textOf(fields.summary))] };
    case "branch_summary":
      return { title: "Branch summary", parts: [prose(textOf(fields.summary))] };
    case "custom_message":
      return { title: `Message of ${textOf(fields.customType)}`, parts: contentParts(fields.content) };
    default: {
      const { type, id: _id, parentId: _parentId, timestamp: _timestamp, ...data } = fields;
      return { title: `Entry: ${textOf(type)}`, parts: [fence(jsonOf(data), "json")] };
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
      const reason = isError && message.errorMessage !== undefined ? [fence(textOf(message.errorMessage))] : [];
      const title = `Assistant (${modelName(message.provider, message.model)})`;
      return { title, parts: [...contentParts(content), ...why, ...reason] };
    }
    case "toolResult": {
      const title = `${message.isError === true ? "Error" : "Result"} of ${textOf(message.toolName)}`;
      const diffs = diffsIn(message.details).map((diff) => fence(diff, "diff"));
      return { title, parts: [...resultParts(content), ...diffs] };
    }
    case "bashExecution": {
      const ended =
        message.cancelled === true
          ? "Cancelled."
          : message.exitCode
            ? `Exit code ${excerpt(textOf(message.exitCode), 60)}.`
            : "";
      const parts = [fence(textOf(message.command), "sh"), outputFence(textOf(message.output)), plain(ended)];
      return { title: "Command", parts };
    }
    case "custom":
      return { title: `Message of ${textOf(message.customType)}`, parts: contentParts(content) };
    case "branchSummary":
    case "compactionSummary": {
      const title = message.role === "branchSummary" ? "Branch summary" : "Compaction";
      return { title, parts: [prose(textOf(message.summary))] };
    }
    default:
      return { title: `Message of ${textOf(message.role)}`, parts: [fence(jsonOf(message), "json")] };
  }
}

function contentParts(content: unknown): string[] {
  if (!Array.isArray(content)) return [prose(textOf(content))];
  return content.flatMap((block: unknown) => {
    const fields = fieldsOf(block);
    switch (fields.type) {
      case "text":
        return prose(textOf(fields.text));
      case "thinking":
        return textOf(fields.thinking) ? [`**Thinking**`, fence(textOf(fields.thinking))] : [];
      case "toolCall":
        return [`**Call of ${plain(excerpt(textOf(fields.name), 100))}**`, fence(jsonOf(fields.arguments), "json")];
      case "image":
        return `(a picture, ${plain(excerpt(textOf(fields.mimeType), 60))})`;
      default:
        return fence(jsonOf(block), "json");
    }
  });
}

/** Output is never Markdown. */
function resultParts(content: unknown): string[] {
  if (!Array.isArray(content)) return [outputFence(textOf(content))];
  return content.flatMap((block: unknown) => {
    const fields = fieldsOf(block);
    return fields.type === "text" ? outputFence(textOf(fields.text)) : contentParts([block]);
  });
}

/** Nothing for no text. */
const fence = (text: string, language?: string): string =>
  text.trim() === "" ? "" : fenced(clean(visible(text)), language);

const outputFence = (output: string): string => (output.trim() === "" ? "" : fenced(clean(withoutSequences(output))));

/** One line of text that means nothing to Markdown or HTML. An underscore inside a word means nothing anyway. */
const plain = (text: string): string => text.replace(/[\\`*[\]<>&]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&");
