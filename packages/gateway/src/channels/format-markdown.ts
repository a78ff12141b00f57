/**
 * Writes Markdown in the markup of a platform, which can do less. Links show where they lead, and nothing that is plain text in
 * Markdown becomes markup. Pure.
 */
import { lexMarkdown, type Token, type Tokens } from "@tau/markdown";

type Mark = "strong" | "em" | "del";

/** The markup of a platform. Each `text` is already in that markup; `code` and `address` are as they were written. */
export interface Markup {
  /** Never called for a text that has the same mark around it already. */
  readonly mark: (mark: Mark, text: string) => string;
  readonly codespan: (code: string) => string;
  readonly code: (code: string, language: string) => string;
  readonly quote: (text: string) => string;
  readonly link: (text: string, address: string) => string;
}

/** Escapes what would begin a tag or an entity. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export const formatMarkdown = (markdown: string, markup: Markup): string =>
  formatBlocks(lexMarkdown(markdown) as Token[], markup);

const formatBlocks = (tokens: readonly Token[] = [], markup: Markup): string =>
  tokens
    .map((token) => formatBlock(token, markup))
    .join("")
    .trim();

function formatBlock(token: Token, markup: Markup): string {
  switch (token.type) {
    case "space":
      return "";
    case "heading":
      return `${markup.mark("strong", formatInline(token.tokens, markup, ["strong"]))}\n\n`;
    case "paragraph":
      return `${formatInline(token.tokens, markup)}\n\n`;
    case "text":
      return formatText(token as Tokens.Text, markup, []);
    case "code":
      return `${markup.code(token.text as string, (token.lang as string | undefined) ?? "")}\n\n`;
    case "blockquote":
      return `${markup.quote(formatBlocks(token.tokens, markup))}\n\n`;
    case "list":
      return `${formatList(token as Tokens.List, markup)}\n`;
    case "hr":
      return "———\n\n";
    default: {
      // Tables and HTML are shown as they are written.
      const raw = token.raw.trim();
      return `${token.type === "table" ? markup.code(raw, "") : escapeMarkup(raw)}\n\n`;
    }
  }
}

const formatList = ({ items, ordered, start }: Tokens.List, markup: Markup): string =>
  items
    .map((item, index) => {
      const bullet = ordered ? `${Number(start || 1) + index}.` : "•";
      const text = item.tokens
        .map((token) => formatBlock(token, markup).trim())
        .join("\n")
        .replaceAll("\n", "\n  ");
      return `${bullet} ${text}\n`;
    })
    .join("");

/** `open` are the marks that the text is inside of. */
const formatInline = (tokens: readonly Token[] = [], markup: Markup, open: readonly Mark[] = []): string =>
  tokens.map((token) => formatSpan(token, markup, open)).join("");

function formatSpan(token: Token, markup: Markup, open: readonly Mark[]): string {
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      if (open.includes(token.type)) return formatInline(token.tokens, markup, open);
      return markup.mark(token.type, formatInline(token.tokens, markup, [...open, token.type]));
    case "codespan":
      return markup.codespan(token.text as string);
    case "br":
      return "\n";
    case "link":
    case "image": {
      const isImage = token.type === "image";
      const text = isImage ? escapeMarkup(token.text as string) : formatInline(token.tokens, markup, open);
      return markup.link(text, token.href as string);
    }
    case "escape":
      return escapeMarkup(token.text as string);
    case "text":
      return formatText(token as Tokens.Text, markup, open);
    default:
      return escapeMarkup(token.raw);
  }
}

const formatText = ({ text, tokens }: Tokens.Text, markup: Markup, open: readonly Mark[]): string =>
  tokens ? formatInline(tokens, markup, open) : escapeMarkup(text);
