/** The contents of messages as HTML: text, thinking, tool calls, pictures, output. */
import { ansiHtml } from "./ansi-html.ts";
import { diffHtml } from "./diff-html.ts";
import { markdownHtml } from "./markdown-html.ts";
import { diffsIn } from "./source.ts";
import { clean, countText, cut, escapeHtml, toFields, html, toJson, getText, visible } from "./text.ts";

export interface ContentOptions {
  /** Longer outputs, arguments and data are cut. */
  maxResultChars: number;
}

/** What a message says, whether as one text or in blocks. What is no block that we know is shown as data. */
export function contentHtml(content: unknown, options: ContentOptions): string {
  if (!Array.isArray(content)) return markdownHtml(getText(content));
  return content.map((block: unknown) => blockHtml(block, options)).join("\n");
}

function blockHtml(block: unknown, options: ContentOptions): string {
  const fields = toFields(block);
  switch (fields.type) {
    case "text":
      return markdownHtml(getText(fields.text));
    case "image":
      return imageHtml(fields);
    case "thinking":
      return thinkingHtml(fields);
    case "toolCall":
      return toolCallHtml(fields, options);
    default:
      return dataHtml("Content", block, options);
  }
}

function thinkingHtml({ thinking, redacted }: Readonly<Record<string, unknown>>): string {
  const text = getText(thinking);
  if (redacted === true || text === "") return note("Thinking that the provider keeps to itself.");
  return `<details class="thinking"><summary>Thinking</summary>${markdownHtml(text)}</details>`;
}

function toolCallHtml(call: Readonly<Record<string, unknown>>, options: ContentOptions): string {
  const { command, ...others } = toFields(call.arguments);
  // A command reads better as itself than as a string in JSON.
  const isCommand = typeof command === "string";
  const rest = isCommand ? others : call.arguments;
  const parts = [
    `<p class="call">Call <b>${html(getText(call.name))}</b></p>`,
    isCommand ? codeHtml(command, options) : "",
    isCommand && Object.keys(others).length === 0 ? "" : codeHtml(rest === undefined ? "" : toJson(rest), options),
    call.argumentsError === undefined ? "" : errorHtml(getText(call.argumentsError)),
  ];
  return `<div class="tool">${parts.join("")}</div>`;
}

/** What a tool or a command gave back: blocks of output, and what the tool changed. */
export function resultHtml(content: unknown, details: unknown, options: ContentOptions): string {
  const blocks: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: getText(content) }];
  const shown = blocks.map((block) => {
    const fields = toFields(block);
    return fields.type === "text" ? outputHtml(getText(fields.text), options) : blockHtml(block, options);
  });
  return [...shown, ...diffsIn(details).map((diff) => boundedHtml(diff, options, diffHtml))].join("\n");
}

/** More lines than this are folded. */
const maxLines = 24;

/** Output as a terminal would show it. */
export const outputHtml = (output: string, options: ContentOptions): string => foldedHtml(output, options, ansiHtml);

/** Commands and arguments, with nothing in them hidden. */
export const codeHtml = (code: string, options: ContentOptions): string =>
  foldedHtml(code, options, (text) => html(visible(text)));

function foldedHtml(given: string, options: ContentOptions, show: (text: string) => string): string {
  if (given.trim() === "") return "";
  return boundedHtml(given, options, (text) => {
    const block = `<pre>${show(text.replace(/\n$/, ""))}</pre>`;
    const lines = text.split("\n").length;
    return lines <= maxLines ? block : `<details><summary>${countText(lines)} lines</summary>${block}</details>`;
  });
}

function boundedHtml(text: string, { maxResultChars }: ContentOptions, show: (text: string) => string): string {
  const { text: kept, leftOut } = cut(text, maxResultChars);
  return show(kept) + (leftOut > 0 ? note(`${countText(leftOut)} more characters are left out here.`) : "");
}

/** Anything else, as JSON, folded. */
export const dataHtml = (title: string, value: unknown, options: ContentOptions): string =>
  value === undefined
    ? ""
    : `<details class="data"><summary>${html(title)}</summary>${boundedHtml(toJson(value), options, (text) => `<pre>${html(text)}</pre>`)}</details>`;

export const note = (text: string): string => `<p class="note">${html(text)}</p>`;

export const errorHtml = (text: string): string => `<p class="error">${html(text)}</p>`;

/** Only pictures that can do nothing but be seen; SVG is a document. */
const pictures: ReadonlySet<unknown> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function imageHtml({ mimeType, data }: Readonly<Record<string, unknown>>): string {
  const isShown = pictures.has(mimeType) && typeof data === "string" && isBase64(data);
  if (!isShown) return note(`A picture that cannot be shown (${clean(getText(mimeType)).slice(0, 100) || "no type"}).`);
  return `<img src="data:${escapeHtml(getText(mimeType))};base64,${escapeHtml(data)}" alt="picture">`;
}

const isBase64 = (data: string) => data.length > 0 && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
