/** The contents of messages as HTML: text, thinking, tool calls, images, output. */
import { getDiffs } from "@tau/protocol/surface";
import { ansiHtml } from "./ansi-html.ts";
import { codeDetailsHtml } from "./code-places-html.ts";
import { diffHtml } from "./diff-html.ts";
import { markdownHtml } from "./markdown-html.ts";
import {
  clean,
  cut,
  escapeHtml,
  type Fields,
  formatCount,
  toText,
  html,
  showHidden,
  toFields,
  splitCode,
  toJson,
} from "./text.ts";

export interface ContentOptions {
  /** Longer outputs, arguments and data are cut. */
  maxResultChars: number;
}

/** The content of a message, whether it is one text or blocks. Blocks of unknown types are shown as data. */
export function contentHtml(content: unknown, options: ContentOptions): string {
  if (!Array.isArray(content)) return markdownHtml(toText(content));
  return content.map((block: unknown) => blockHtml(block, options)).join("\n");
}

function blockHtml(block: unknown, options: ContentOptions): string {
  const fields = toFields(block);
  switch (fields.type) {
    case "text":
      return markdownHtml(toText(fields.text));
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

function thinkingHtml({ thinking, redacted }: Fields): string {
  const text = toText(thinking);
  if (redacted === true || text === "") return note("Thinking, redacted by the provider.");
  return `<details class="thinking"><summary>Thinking</summary>${markdownHtml(text)}</details>`;
}

function toolCallHtml(call: Fields, options: ContentOptions): string {
  const fields = toFields(call.arguments);
  const { code, rest } = splitCode(fields, ["command", "code"]);
  const parts = [
    `<p class="call">Call <b>${html(toText(call.name))}</b></p>`,
    codeHtml(code, options),
    code === "" ? codeHtml(toJson(call.arguments), options) : codeHtml(rest, options),
    call.argumentsError === undefined ? "" : errorHtml(toText(call.argumentsError)),
  ];
  return `<div class="tool">${parts.join("")}</div>`;
}

/** The result of a tool: its blocks of output, the diffs of the files it changed, and the places in its details. */
export function resultHtml(content: unknown, details: unknown, options: ContentOptions): string {
  const blocks: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: toText(content) }];
  const outputs = blocks.map((block) => {
    const fields = toFields(block);
    return fields.type === "text" ? outputHtml(toText(fields.text), options) : blockHtml(block, options);
  });
  const code = codeDetailsHtml(details, options.maxResultChars);
  // The text repeats the places for the model.
  const texts = code === "" ? outputs : [code, `<details><summary>Text</summary>${outputs.join("\n")}</details>`];
  return [...texts, ...getDiffs(details).map((diff) => cutHtml(diff, options, diffHtml))].join("\n");
}

/** Texts with more lines are folded. */
const maxUnfoldedLines = 24;

/** Output as a terminal would show it. */
export const outputHtml = (output: string, options: ContentOptions): string => foldedHtml(output, options, ansiHtml);

/** Commands and arguments, with hidden characters shown. */
export const codeHtml = (code: string, options: ContentOptions): string =>
  foldedHtml(code, options, (text) => html(showHidden(text)));

function foldedHtml(text: string, options: ContentOptions, toHtml: (text: string) => string): string {
  if (text.trim() === "") return "";
  return cutHtml(text, options, (kept) => {
    const block = `<pre>${toHtml(kept.replace(/\n$/, ""))}</pre>`;
    const lines = kept.split("\n").length;
    return lines <= maxUnfoldedLines
      ? block
      : `<details><summary>${formatCount(lines)} lines</summary>${block}</details>`;
  });
}

function cutHtml(text: string, { maxResultChars }: ContentOptions, toHtml: (text: string) => string): string {
  const { text: kept, omitted } = cut(text, maxResultChars);
  return toHtml(kept) + (omitted > 0 ? note(`${formatCount(omitted)} more characters omitted.`) : "");
}

/** Any value as JSON, folded. */
export const dataHtml = (title: string, value: unknown, options: ContentOptions): string =>
  value === undefined
    ? ""
    : `<details class="data"><summary>${html(title)}</summary>${cutHtml(toJson(value), options, (text) => `<pre>${html(text)}</pre>`)}</details>`;

export const note = (text: string): string => `<p class="note">${html(text)}</p>`;

export const errorHtml = (text: string): string => `<p class="error">${html(text)}</p>`;

/** SVG is missing because it is a document that can hold scripts. */
const imageTypes: ReadonlySet<unknown> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function imageHtml({ mimeType, data }: Fields): string {
  const isShown = imageTypes.has(mimeType) && typeof data === "string" && isBase64(data);
  if (!isShown) return note(`An image that cannot be shown (${clean(toText(mimeType)).slice(0, 100) || "no type"}).`);
  return `<img src="data:${escapeHtml(toText(mimeType))};base64,${escapeHtml(data)}" alt="image">`;
}

const isBase64 = (data: string) => data.length > 0 && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
