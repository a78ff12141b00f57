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
import { type Outline, type Trace, traceOf } from "./source.ts";
import { countText, fieldsOf, textOf, withoutSequences } from "./text.ts";
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

export function cardOf(entry: SessionEntry, options: CardOptions): Card {
  const fields = fieldsOf(entry);
  const trace = traceOf(entry, options);
  if (trace) return traceCard(trace, dataHtml(textOf(fields.customType), fields.data ?? null, options));
  switch (entry.type) {
    case "message":
      return messageCard(fieldsOf(fields.message), options);
    case "compaction":
      return summaryCard("Compaction", fields, options);
    case "branch_summary":
      return summaryCard("Branch summary", fields, options);
    case "custom_message":
      return extensionCard(fields, options);
    case "custom":
      return fact(`Note of ${textOf(fields.customType)}`, "", dataHtml("Data", fields.data, options));
    case "model_change":
      return fact("Model", modelName(fields.provider, fields.modelId));
    case "thinking_level_change":
      return fact("Thinking level", textOf(fields.thinkingLevel));
    case "label":
      return fact("Label", textOf(fields.label) || "(taken away)");
    case "session_info":
      return fact("Name", textOf(fields.name) || "(taken away)");
    case "usage": {
      const spent = [modelName(fields.provider, fields.model), usageText(fields.usage)].filter(Boolean);
      return fact(`Spent on ${textOf(fields.kind)}`, spent.join(" · "));
    }
    case "context_edit":
      return contextEditCard(fields, options);
    default:
      return unknownCard(textOf(fields.type) || "Unknown entry", entry, options);
  }
}

function messageCard(message: Fields, options: ContentOptions): Card {
  const { content } = message;
  switch (message.role) {
    case "user":
      return { ...card("user", "User", briefOf(content)), html: contentHtml(content, options) };
    case "assistant":
      return assistantCard(message, options);
    case "toolResult": {
      const isError = message.isError === true;
      const title = `${isError ? "Error" : "Result"} of ${textOf(message.toolName)}`;
      const html = resultHtml(content, message.details, options) || note("No output.");
      return { ...card("result", title, withoutSequences(briefOf(content))), isMinor: true, isError, html };
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
      return unknownCard(`Message of ${textOf(message.role) || "nobody"}`, message, options);
  }
}

function assistantCard(message: Fields, options: ContentOptions): Card {
  const { content, stopReason, diagnostics } = message;
  const isError = stopReason === "error" || stopReason === "aborted";
  const why = textOf(message.errorMessage) || (stopReason === "aborted" ? "Aborted." : "Failed.");
  const facts = [usageText(message.usage), stopReason === "length" ? "cut by the length limit" : ""].filter(Boolean);
  const parts = [
    contentHtml(content ?? [], options),
    isError ? errorHtml(why) : "",
    dataHtml("Diagnostics", diagnostics, options),
    facts.length > 0 ? note(facts.join(" · ")) : "",
  ];
  const title = `Assistant · ${modelName(message.provider, message.model)}`;
  return { ...card("assistant", title, briefOf(content) || (isError ? why : "")), isError, html: parts.join("\n") };
}

function shellCard(message: Fields, options: ContentOptions): Card {
  const { exitCode, cancelled, truncated, fullOutputPath, excludeFromContext } = message;
  const command = textOf(message.command);
  const notes = [
    cancelled === true ? "cancelled" : exitCode !== undefined && exitCode !== 0 && `exit code ${textOf(exitCode)}`,
    truncated === true && `the output was cut; all of it was in ${textOf(fullOutputPath) || "no file"}`,
    excludeFromContext === true && "not told to the model",
  ].filter((text) => text !== false);
  const parts = [
    `<div class="command">${codeHtml(command, options)}</div>`,
    outputHtml(textOf(message.output), options) || note("No output."),
    notes.length > 0 ? note(notes.join(" · ")) : "",
  ];
  return { ...card("shell", "Command", command), html: parts.join("\n") };
}

function extensionCard(fields: Fields, options: ContentOptions): Card {
  const html = contentHtml(fields.content, options) + dataHtml("Details", fields.details, options);
  const isHidden = fields.display === false;
  const shown = isHidden ? `<details><summary>Not shown in the session</summary>${html}</details>` : html;
  const title = `Message of ${textOf(fields.customType)}`;
  return { ...card("extension", title, briefOf(fields.content)), isMinor: isHidden, html: shown };
}

function summaryCard(title: string, fields: Fields, options: ContentOptions): Card {
  const before = fields.tokensBefore;
  const facts = [typeof before === "number" && `${countText(before)} tokens before`, usageText(fields.usage)];
  const about = facts.filter(Boolean).join(" · ");
  const summary = textOf(fields.summary);
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
  const html = contentHtml(fieldsOf(replacement).content, options);
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
function briefOf(content: unknown): string {
  if (!Array.isArray(content)) return unmarked(textOf(content));
  const blocks = content.map(fieldsOf);
  const text = blocks.find((block) => block.type === "text" && textOf(block.text).trim() !== "");
  if (text) return unmarked(textOf(text.text));
  return blocks
    .flatMap((block) => (block.type === "toolCall" ? textOf(block.name) : block.type === "image" ? "(picture)" : []))
    .join(", ");
}

/** The beginning of a text without the marks that say nothing in a single line. */
const unmarked = (markdown: string): string => markdown.slice(0, 1_000).replace(/^[ \t]*#+[ \t]+|\*\*|`+/gm, "");

function usageText(usage: unknown): string {
  const { input, output, cacheRead, cost } = fieldsOf(usage);
  const parts = [
    typeof input === "number" && input > 0 && `${countText(input)} in`,
    typeof cacheRead === "number" && cacheRead > 0 && `${countText(cacheRead)} cached`,
    typeof output === "number" && output > 0 && `${countText(output)} out`,
    typeof fieldsOf(cost).total === "number" && costText(Number(fieldsOf(cost).total)),
  ];
  return parts.filter(Boolean).join(" · ");
}
