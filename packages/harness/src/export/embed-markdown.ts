/** Writes the Markdown of a message so that it can be part of a larger document without changing the rest of it. */
import { assertNever } from "@tau/ai/internal";
import { lexMarkdown, type MarkdownToken, type Token, type Tokens, toMarkdownTokens } from "@tau/markdown";
import { fenced } from "../fence.ts";
import { clean } from "./text.ts";

/**
 * Rewrites Markdown with headings two levels lower, HTML escaped, all fences closed, link references resolved and images
 * turned into links. It is written anew from its tokens, so that other parsers read it as `marked` did.
 */
export const embedMarkdown = (text: string): string => writeBlocks(lexMarkdown(clean(text)), "\n\n");

const writeBlocks = (tokens: readonly Token[], separator: string): string =>
  toMarkdownTokens(tokens).map(writeToken).filter(Boolean).join(separator);

const writeInline = (tokens: readonly Token[]): string => toMarkdownTokens(tokens).map(writeToken).join("");

function writeToken(token: MarkdownToken): string {
  switch (token.type) {
    case "space":
      return "";
    case "heading":
      return `${"#".repeat(Math.min(token.depth + 2, 6))} ${toLine(writeInline(token.tokens))}`;
    case "paragraph":
      return escapeLineStarts(writeInline(token.tokens));
    case "code":
      return fenced(token.text, token.lang?.replaceAll("`", ""));
    case "blockquote":
      return indent(writeBlocks(token.tokens, "\n\n"), "> ", "> ");
    case "list":
      return writeList(token);
    case "list_item":
      return writeBlocks(token.tokens, token.loose ? "\n\n" : "\n");
    case "checkbox":
      // Written by its item.
      return "";
    case "table":
      return writeTable(token);
    case "hr":
      return "---";
    case "def":
      // Escaped: it would resolve references in other messages.
      return escapeLineStarts(escapeText(token.raw));
    case "text":
      return token.tokens ? escapeLineStarts(writeInline(token.tokens)) : escapeText(token.raw);
    case "html":
      return escapeText(token.raw);
    case "escape":
      return token.text === "<" || token.text === "`" ? escapeText(token.text) : token.raw;
    case "br":
      return "\\\n";
    case "codespan":
      return writeCodeSpan(token.text);
    case "em":
    case "strong":
    case "del": {
      const mark = token.raw.slice(0, (token.raw.length - token.text.length) / 2);
      return mark + writeInline(token.tokens) + mark;
    }
    case "link":
    case "image":
      return writeLink(token);
    default:
      return assertNever(token);
  }
}

function writeList({ items, ordered, start, loose }: Tokens.List): string {
  const written = items.map((item, index) => {
    const marker = ordered ? `${Number(start) + index}. ` : "- ";
    const task = item.task ? `[${item.checked ? "x" : " "}] ` : "";
    return indent(task + writeToken(item), marker, " ".repeat(marker.length));
  });
  return written.join(loose ? "\n\n" : "\n");
}

const indent = (text: string, first: string, others: string): string =>
  text
    .split("\n")
    .map((line, index) => ((index === 0 ? first : others) + line).trimEnd())
    .join("\n");

function writeTable({ header, rows }: Tokens.Table): string {
  const writeRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const writeCell = ({ tokens }: Tokens.TableCell) => toLine(writeInline(tokens)).replaceAll("|", "\\|");
  const rules = { left: ":--", center: ":-:", right: "--:" };
  const alignments = header.map(({ align }) => (align === null ? "---" : rules[align]));
  return [header.map(writeCell), alignments, ...rows.map((row) => row.map(writeCell))].map(writeRow).join("\n");
}

function writeLink(token: Tokens.Link | Tokens.Image): string {
  const { href, title, text, raw } = token;
  // Parentheses are no special characters for an address, but they are for Markdown.
  const address = href
    .replace(/[\s<>\\`]/g, encodeURIComponent)
    .replaceAll("(", "%28")
    .replaceAll(")", "%29");
  if (token.type === "link" && token.autolink) {
    if (!/^https?:/i.test(href)) return escapeText(raw);
    return text === href ? `<${address}>` : `[${escapeText(text)}](${address})`;
  }
  const suffix = title ? ` "${escapeText(toLine(title)).replace(/["\\]/g, "\\$&")}"` : "";
  return `[${writeInline(token.tokens)}](${address}${suffix})`;
}

function writeCodeSpan(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  const marks = "`".repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  const padding = /^[ `]|[ `]$/.test(text) ? " " : "";
  return marks + padding + text + padding + marks;
}

const toLine = (text: string): string => text.replace(/\s*\n\s*/g, " ").trim();

/** Escapes backticks and HTML. A backslash would not do: after an address it is read as a part of the address. */
const escapeText = (text: string): string => text.replaceAll("`", "&#96;").replace(/<(?=[A-Za-z/!?]|$)/g, "&lt;");

/** Matches what would begin a block, or turn the line above into one. */
const blockStart = /^(?:#{1,6}(?!\S)|[-+*](?!\S)|>|~~~|[-=*_|:\s]+$|\[(?:\\.|[^[\]\\])*(?:\]:|$))/;

const escapeLineStarts = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .map((line) => (blockStart.test(line) ? `\\${line}` : line.replace(/^(\d{1,9})(?=[.)](?!\S))/, "$1\\")))
    .join("\n");
