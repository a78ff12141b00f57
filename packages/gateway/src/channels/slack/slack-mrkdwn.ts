/**
 * Writes Markdown in Slack's own markup. Nothing in a text can mention anybody: what Slack takes for a mention begins with
 * a bracket, and brackets are escaped. Links show where they lead. Pure.
 */
import { lexMarkdown, type Token, type Tokens } from "@tau/markdown";

export const toMrkdwn = (markdown: string): string =>
  lexMarkdown(markdown)
    .map((token) => formatBlock(token as Token))
    .join("")
    .trim();

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function formatBlock(token: Token): string {
  switch (token.type) {
    case "space":
      return "";
    case "heading":
      return `${mark("*", formatInline(token.tokens, ["*"]))}\n\n`;
    case "paragraph":
      return `${formatInline(token.tokens)}\n\n`;
    case "text":
      return token.tokens ? formatInline(token.tokens) : escape(token.text as string);
    case "code":
      return `${formatCode(token.text as string)}\n\n`;
    case "blockquote": {
      const text = (token.tokens ?? []).map(formatBlock).join("").trim();
      return `${text.replaceAll(/^/gm, "> ")}\n\n`;
    }
    case "list":
      return `${formatList(token as Tokens.List)}\n`;
    case "hr":
      return "———\n\n";
    default:
      // Tables and HTML are shown as they are written.
      return `${token.type === "table" ? formatCode(token.raw.trim()) : escape(token.raw.trim())}\n\n`;
  }
}

/** Three backticks in a code block would end it, and Slack has no way to escape them. */
const formatCode = (code: string): string => `\`\`\`\n${escape(code).replaceAll("```", "``\u200B`")}\n\`\`\``;

const formatList = ({ items, ordered, start }: Tokens.List): string =>
  items
    .map((item, index) => {
      const bullet = ordered ? `${Number(start || 1) + index}.` : "•";
      const text = item.tokens
        .map((token) => formatBlock(token).trim())
        .join("\n")
        .replaceAll("\n", "\n  ");
      return `${bullet} ${text}\n`;
    })
    .join("");

/** `open` are the marks that the text is inside of: Slack does not know them twice. */
const formatInline = (tokens: readonly Token[] = [], open: readonly string[] = []): string =>
  tokens.map((token) => formatSpan(token, open)).join("");

const marks: Readonly<Record<string, string>> = { strong: "*", em: "_", del: "~" };

/** Slack does not format a text that begins or ends with a blank, or that is empty. */
const mark = (character: string, text: string): string => (text.trim() === "" ? text : character + text + character);

function formatSpan(token: Token, open: readonly string[]): string {
  switch (token.type) {
    case "strong":
    case "em":
    case "del": {
      const character = marks[token.type]!;
      if (open.includes(character)) return formatInline(token.tokens, open);
      return mark(character, formatInline(token.tokens, [...open, character]));
    }
    case "codespan":
      return `\`${escape((token.text as string).replaceAll("`", "'"))}\``;
    case "br":
      return "\n";
    case "link":
    case "image": {
      const text = token.type === "image" ? escape(token.text as string) : formatInline(token.tokens, open);
      return formatLink(text, token.href as string);
    }
    case "escape":
      return escape(token.text as string);
    case "text":
      return "tokens" in token && token.tokens ? formatInline(token.tokens, open) : escape(token.text as string);
    default:
      return escape(token.raw);
  }
}

/** The address itself is what can be clicked. A bar in it would begin another text for it. */
function formatLink(text: string, href: string): string {
  const isAddress = /^(https?|mailto):[^\s]+$/i.test(href);
  const shown = isAddress
    ? `<${escape(href.replaceAll(/[<>|]/g, (character) => encodeURIComponent(character)))}>`
    : escape(href);
  const isSame = text === escape(href) || `mailto:${text}` === escape(href);
  return isSame || text === "" ? shown : `${text} (${shown})`;
}
