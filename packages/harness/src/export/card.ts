/** One entry as a card: what it is called, what it says in short, and all of it as HTML. */
import type { SessionEntry } from "../session/entry.ts";
import {
  codeHtml,
  type ContentOptions,
  contentHtml,
  dataHtml,
  errorHtml,
  note,
  outputHtml,
  resultHtml,
} from "./content-html.ts";
import { markdownHtml } from "./markdown-html.ts";
import { type Outline, type Trace, getTrace } from "./source.ts";
import { countText, toFields, getText, withoutSequences } from "./text.ts";
import { costText, modelName } from "./totals.ts";

export interface Card {
  /** Of a closed set: it becomes a class. */
  kind: "user" | "assistant" | "result" | "shell" | "extension" | "summary" | "fact" | "trace" | "unknown";
  /** For people; not escaped. */
  title: string;
  /** One line of what it says; not escaped, and it may be long. */
  brief: string;
  /** What the tree leaves out unless it is asked for. */
  isMinor: boolean;
  isError: boolean;
  html: string;
}

type Fields = Readonly<Record<string, unknown>>;

export interface CardOptions extends ContentOptions {
  answered: Outline["answered"];
}

export function createCard(entry: SessionEntry, options: CardOptions): Card {
  const fields = toFields(entry);
  const trace = getTrace(entry, options);
  if (trace) return traceCard(trace, dataHtml(getText(fields.customType), fields.data ?? null, options));
  switch (entry.type) {
    case "message":
      return messageCard(toFields(fields.message), options);
    case "compaction":
      return summaryCard("Compaction", fields, options);
    case "branch_summary":
      return summaryCard("Branch summary", fields, options);
    case "custom_message":
      return extensionCard(fields, options);
    case "custom":
      return fact(`Note of ${getText(fields.customType)}`, "", dataHtml("Data", fields.data, options));
    case "model_change":
      return fact("Model", modelName(fields.provider, fields.modelId));
    case "thinking_level_change":
      return fact("Thinking level", getText(fields.thinkingLevel));
    case "label":
      return fact("Label", getText(fields.label) || "(taken away)");
    case "session_info":
      return fact("Name", getText(fields.name) || "(taken away)");
    case "usage": {
      const spent = [modelName(fields.provider, fields.model), usageText(fields.usage)].filter(Boolean);
      return fact(`Spent on ${getText(fields.kind)}`, spent.join(" · "));
    }
    case "context_edit":
      return contextEditCard(fields, options);
    default:
      return unknownCard(getText(fields.type) || "Unknown entry", entry, options);
  }
}

function messageCard(message: Fields, options: ContentOptions): Card {
  const { content } = message;
  switch (message.role) {
    case "user":
      return { ...card("user", "User", formatBrief(content)), html: contentHtml(content, options) };
    case "assistant":
      return assistantCard(message, options);
    case "toolResult": {
      const isError = message.isError === true;
      const title = `${isError ? "Error" : "Result"} of ${getText(message.toolName)}`;
      const html = resultHtml(content, message.details, options) || note("No output.");
      return { ...card("result", title, withoutSequences(formatBrief(content))), isMinor: true, isError, html };
    }
    case "bashExecution":
      return shellCard(message, options);
    case "custom":
      return extensionCard(message, options);
    case "branchSummary":
      return summaryCard("Branch summary", message, options);
    case "compactionSummary":
      return summaryCard("Compaction", message, options);
    default:
      return unknownCard(`Message of ${getText(message.role) || "nobody"}`, message, options);
  }
}

function assistantCard(message: Fields, options: ContentOptions): Card {
  const { content, stopReason, diagnostics } = message;
  const isError = stopReason === "error" || stopReason === "aborted";
  const why = getText(message.errorMessage) || (stopReason === "aborted" ? "Aborted." : "Failed.");
  const facts = [usageText(message.usage), stopReason === "length" ? "cut by the length limit" : ""].filter(Boolean);
  const parts = [
    contentHtml(content ?? [], options),
    isError ? errorHtml(why) : "",
    dataHtml("Diagnostics", diagnostics, options),
    facts.length > 0 ? note(facts.join(" · ")) : "",
  ];
  const title = `Assistant · ${modelName(message.provider, message.model)}`;
  return { ...card("assistant", title, formatBrief(content) || (isError ? why : "")), isError, html: parts.join("\n") };
}

function shellCard(message: Fields, options: ContentOptions): Card {
  const { exitCode, cancelled, truncated, fullOutputPath, excludeFromContext } = message;
  const command = getText(message.command);
  const notes = [
    cancelled === true ? "cancelled" : exitCode !== undefined && exitCode !== 0 && `exit code ${getText(exitCode)}`,
    truncated === true && `the output was cut; all of it was in ${getText(fullOutputPath) || "no file"}`,
    excludeFromContext === true && "not told to the model",
  ].filter((text) => text !== false);
  const parts = [
    `<div class="command">${codeHtml(command, options)}</div>`,
    outputHtml(getText(message.output), options) || note("No output."),
    notes.length > 0 ? note(notes.join(" · ")) : "",
  ];
  return { ...card("shell", "Command", command), html: parts.join("\n") };
}

function extensionCard(fields: Fields, options: ContentOptions): Card {
  const html = contentHtml(fields.content, options) + dataHtml("Details", fields.details, options);
  const isHidden = fields.display === false;
  const shown = isHidden ? `<details><summary>Not shown in the session</summary>${html}</details>` : html;
  const title = `Message of ${getText(fields.customType)}`;
  return { ...card("extension", title, formatBrief(fields.content)), isMinor: isHidden, html: shown };
}

function summaryCard(title: string, fields: Fields, options: ContentOptions): Card {
  const before = fields.tokensBefore;
  const facts = [typeof before === "number" && `${countText(before)} tokens before`, usageText(fields.usage)];
  const about = facts.filter(Boolean).join(" · ");
  const summary = getText(fields.summary);
  const html = [markdownHtml(summary), dataHtml("Details", fields.details, options), about ? note(about) : ""];
  return { ...card("summary", title, unmarked(summary)), html: html.join("\n") };
}

function traceCard(trace: Trace, html: string): Card {
  if (trace.kind === "none") return { ...fact("Bookkeeping", "", html), kind: "trace" };
  const title = `Outcome of ${trace.toolName}`;
  const brief = "Unknown: the call was begun, and the session has no result of it.";
  return { ...fact(title, brief, html), isMinor: false, isError: true };
}

function contextEditCard({ replacement }: Fields, options: ContentOptions): Card {
  if (replacement === null) return fact("Context edit", "an entry is hidden from the model");
  const html = contentHtml(toFields(replacement).content, options);
  return fact("Context edit", "the model sees other content in place of an entry", html);
}

const unknownCard = (title: string, value: unknown, options: ContentOptions): Card => ({
  ...card("unknown", title, ""),
  isMinor: true,
  html: dataHtml("Data", value, options),
});

const fact = (title: string, brief: string, html = ""): Card => ({
  ...card("fact", title, brief),
  isMinor: true,
  html: (brief ? note(brief) : "") + html,
});

const card = (kind: Card["kind"], title: string, brief: string): Card => ({
  kind,
  title,
  brief,
  isMinor: false,
  isError: false,
  html: "",
});

/** The first text of a message; for one that only calls, what it calls. */
function formatBrief(content: unknown): string {
  if (!Array.isArray(content)) return unmarked(getText(content));
  const blocks = content.map(toFields);
  const text = blocks.find((block) => block.type === "text" && getText(block.text).trim() !== "");
  if (text) return unmarked(getText(text.text));
  return blocks
    .flatMap((block) => (block.type === "toolCall" ? getText(block.name) : block.type === "image" ? "(picture)" : []))
    .join(", ");
}

/** The beginning of a text without the marks that say nothing in a single line. */
const unmarked = (markdown: string): string => markdown.slice(0, 1_000).replace(/^[ \t]*#+[ \t]+|\*\*|`+/gm, "");

function usageText(usage: unknown): string {
  const { input, output, cacheRead, cost } = toFields(usage);
  const parts = [
    typeof input === "number" && input > 0 && `${countText(input)} in`,
    typeof cacheRead === "number" && cacheRead > 0 && `${countText(cacheRead)} cached`,
    typeof output === "number" && output > 0 && `${countText(output)} out`,
    typeof toFields(cost).total === "number" && costText(Number(toFields(cost).total)),
  ];
  return parts.filter(Boolean).join(" · ");
}
