/** Renders an entry as HTML, with its title and a preview for the tree. */
import type { SessionEntry } from "../session/entry.ts";
import {
  codeHtml,
  contentHtml,
  type ContentOptions,
  dataHtml,
  errorHtml,
  note,
  outputHtml,
  resultHtml,
} from "./content-html.ts";
import { markdownHtml } from "./markdown-html.ts";
import { getFoldedLines } from "@tau/protocol/surface";
import { type Bookkeeping, classifyBookkeeping, formatContextEdit, type Outline } from "./source.ts";
import { escapeHtml, type Fields, formatCount, toText, removeEscapeSequences, toFields } from "./text.ts";
import { formatChosenModel, formatModel, formatUsage } from "./totals.ts";

export interface EntryHtml {
  /** Becomes a CSS class. */
  kind: "user" | "assistant" | "result" | "shell" | "extension" | "summary" | "info" | "internal" | "unknown";
  /** Not escaped. */
  title: string;
  /** The beginning of the entry's text; not escaped, and it may be long. */
  preview: string;
  /** Whether the tree hides the entry unless all entries are asked for. */
  isMinor: boolean;
  isError: boolean;
  html: string;
}

interface EntryOptions extends ContentOptions {
  answeredCalls: Outline["answeredCalls"];
}

export function createEntryHtml(entry: SessionEntry, options: EntryOptions): EntryHtml {
  const fields = toFields(entry);
  const bookkeeping = classifyBookkeeping(entry, options);
  if (bookkeeping) {
    const isCustom = entry.type === "custom";
    const html = dataHtml(toText(isCustom ? fields.customType : fields.type), isCustom ? fields.data : entry, options);
    return bookkeepingEntry(bookkeeping, html);
  }
  switch (entry.type) {
    case "message":
      return messageEntry(toFields(fields.message), options);
    case "compaction":
      return summaryEntry("Compaction", fields, options);
    case "branch_summary":
      return summaryEntry("Branch summary", fields, options);
    case "custom_message":
      return extensionEntry(fields, options);
    case "custom":
      return infoEntry(`Data of ${toText(fields.customType)}`, "", dataHtml("Data", fields.data, options));
    case "model_change":
      return infoEntry("Model", formatChosenModel(fields.provider, fields.modelId, fields.role));
    case "thinking_level_change":
      return infoEntry("Thinking level", toText(fields.thinkingLevel));
    case "permission_mode":
      return infoEntry("Permission mode", toText(fields.mode));
    case "label":
      return infoEntry("Label", toText(fields.label) || "(removed)");
    case "session_info":
      return infoEntry("Name", toText(fields.name) || "(removed)");
    case "usage": {
      const usage = [formatModel(fields.provider, fields.model), formatUsage(fields.usage)].filter(Boolean);
      return infoEntry(`Usage: ${toText(fields.kind)}`, usage.join(" · "));
    }
    case "queue":
      return infoEntry("Message not sent", toText(fields.reason));
    case "context_edit":
      return contextEditEntry(fields, options);
    default:
      return unknownEntry(toText(fields.type) || "Unknown entry", entry, options);
  }
}

function messageEntry(message: Fields, options: ContentOptions): EntryHtml {
  const { content } = message;
  switch (message.role) {
    case "user":
      return { ...createEntry("user", "User", getPreview(content)), html: contentHtml(content, options) };
    case "assistant":
      return assistantEntry(message, options);
    case "toolResult": {
      const isError = message.isError === true;
      const title = `${isError ? "Error" : "Result"} of ${toText(message.toolName)}`;
      const preview = removeEscapeSequences(getPreview(content));
      const html = resultHtml(content, message.details, options) || note("No output.");
      return { ...createEntry("result", title, preview), isMinor: true, isError, html };
    }
    case "bashExecution":
      return shellEntry(message, options);
    case "custom":
      return extensionEntry(message, options);
    case "branchSummary":
      return summaryEntry("Branch summary", message, options);
    case "compactionSummary":
      return summaryEntry("Compaction", message, options);
    default:
      return unknownEntry(`Message of ${toText(message.role) || "an unknown role"}`, message, options);
  }
}

function assistantEntry(message: Fields, options: ContentOptions): EntryHtml {
  const { content, stopReason, diagnostics } = message;
  const isError = stopReason === "error" || stopReason === "aborted";
  const reason = toText(message.errorMessage) || (stopReason === "aborted" ? "Aborted." : "Failed.");
  const notes = [formatUsage(message.usage), stopReason === "length" ? "cut by the length limit" : ""].filter(Boolean);
  const parts = [
    contentHtml(content ?? [], options),
    isError ? errorHtml(reason) : "",
    dataHtml("Diagnostics", diagnostics, options),
    notes.length > 0 ? note(notes.join(" · ")) : "",
  ];
  const title = `Assistant · ${formatModel(message.provider, message.model)}`;
  const preview = getPreview(content) || (isError ? reason : "");
  return { ...createEntry("assistant", title, preview), isError, html: parts.join("\n") };
}

function shellEntry(message: Fields, options: ContentOptions): EntryHtml {
  const { exitCode, cancelled, truncated, fullOutputPath, excludeFromContext } = message;
  const command = toText(message.command);
  const notes = [
    cancelled === true ? "cancelled" : exitCode !== undefined && exitCode !== 0 && `exit code ${toText(exitCode)}`,
    truncated === true && `output truncated; full output: ${toText(fullOutputPath) || "not saved"}`,
    excludeFromContext === true && "not shown to the model",
  ].filter((text) => text !== false);
  const parts = [
    `<div class="command">${codeHtml(command, options)}</div>`,
    outputHtml(toText(message.output), options) || note("No output."),
    notes.length > 0 ? note(notes.join(" · ")) : "",
  ];
  return { ...createEntry("shell", "Command", command), html: parts.join("\n") };
}

function extensionEntry(fields: Fields, options: ContentOptions): EntryHtml {
  const html = contentHtml(fields.content, options) + dataHtml("Details", fields.details, options);
  const isHidden = fields.display === false;
  const title = `Message of ${toText(fields.customType)}`;
  const foldedTo = isHidden ? ["Not shown in the session"] : getFoldedLines(fields.details);
  const summary = foldedTo?.map((line) => escapeHtml(removeEscapeSequences(line))).join("<br>");
  return {
    ...createEntry("extension", title, getPreview(fields.content)),
    isMinor: isHidden,
    html: summary === undefined ? html : `<details><summary>${summary}</summary>${html}</details>`,
  };
}

function summaryEntry(title: string, fields: Fields, options: ContentOptions): EntryHtml {
  const { tokensBefore } = fields;
  const notes = [
    typeof tokensBefore === "number" && `${formatCount(tokensBefore)} tokens before`,
    formatUsage(fields.usage),
  ].filter(Boolean);
  const summary = toText(fields.summary);
  const parts = [
    markdownHtml(summary),
    dataHtml("Details", fields.details, options),
    notes.length > 0 ? note(notes.join(" · ")) : "",
  ];
  return { ...createEntry("summary", title, removeMarks(summary)), html: parts.join("\n") };
}

function bookkeepingEntry(bookkeeping: Bookkeeping, html: string): EntryHtml {
  if (bookkeeping.kind === "internal") return { ...infoEntry("Bookkeeping", "", html), kind: "internal" };
  const preview = "Unknown: the call was started, and the session has no result for it.";
  return { ...infoEntry(`Outcome of ${bookkeeping.toolName}`, preview, html), isMinor: false, isError: true };
}

function contextEditEntry({ replacement }: Fields, options: ContentOptions): EntryHtml {
  const html = replacement === null ? "" : contentHtml(toFields(replacement).content, options);
  return infoEntry("Context edit", formatContextEdit(replacement), html);
}

const unknownEntry = (title: string, value: unknown, options: ContentOptions): EntryHtml => ({
  ...createEntry("unknown", title, ""),
  isMinor: true,
  html: dataHtml("Data", value, options),
});

const infoEntry = (title: string, preview: string, html = ""): EntryHtml => ({
  ...createEntry("info", title, preview),
  isMinor: true,
  html: (preview ? note(preview) : "") + html,
});

const createEntry = (kind: EntryHtml["kind"], title: string, preview: string): EntryHtml => ({
  kind,
  title,
  preview,
  isMinor: false,
  isError: false,
  html: "",
});

/** The first text of a message; the names of its calls if it has no text. */
function getPreview(content: unknown): string {
  if (!Array.isArray(content)) return removeMarks(toText(content));
  const blocks = content.map(toFields);
  const text = blocks.find((block) => block.type === "text" && toText(block.text).trim() !== "");
  if (text) return removeMarks(toText(text.text));
  return blocks
    .flatMap((block) => (block.type === "toolCall" ? toText(block.name) : block.type === "image" ? "(image)" : []))
    .join(", ");
}

/** The beginning of a text, without the Markdown marks that mean nothing in a single line. */
const removeMarks = (markdown: string): string => markdown.slice(0, 1_000).replace(/^[ \t]*#+[ \t]+|\*\*|`+/gm, "");
