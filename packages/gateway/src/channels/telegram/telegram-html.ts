/** Writes Markdown in the HTML that Telegram takes. Links show where they lead, and nothing else becomes markup. Pure. */
import { lexMarkdown, type Token, type Tokens } from "@tau/markdown";

export const toTelegramHtml = (markdown: string): string =>
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
      return `<b>${formatInline(token.tokens)}</b>\n\n`;
    case "paragraph":
      return `${formatInline(token.tokens)}\n\n`;
    case "text":
      return token.tokens ? formatInline(token.tokens) : escape(token.text as string);
    case "code": {
      const language = /^[\w+#-]{1,30}$/.test((token.lang as string | undefined) ?? "") ? (token.lang as string) : "";
      const code = escape(token.text as string);
      return language === ""
        ? `<pre>${code}</pre>\n\n`
        : `<pre><code class="language-${language}">${code}</code></pre>\n\n`;
    }
    case "blockquote":
      return `<blockquote>${(token.tokens ?? []).map(formatBlock).join("").trim()}</blockquote>\n\n`;
    case "list":
      return `${formatList(token as Tokens.List)}\n`;
    case "hr":
      return "———\n\n";
    default:
      // Tables and HTML are shown as they are written.
      return `${token.type === "table" ? `<pre>${escape(token.raw.trim())}</pre>` : escape(token.raw.trim())}\n\n`;
  }
}

const formatList = ({ items, ordered, start }: Tokens.List): string =>
  items
    .map((item, index) => {
      const mark = ordered ? `${Number(start || 1) + index}.` : "•";
      const text = item.tokens
        .map((token) => formatBlock(token).trim())
        .join("\n")
        .replaceAll("\n", "\n  ");
      return `${mark} ${text}\n`;
    })
    .join("");

const formatInline = (tokens: readonly Token[] = []): string => tokens.map(formatSpan).join("");

function formatSpan(token: Token): string {
  switch (token.type) {
    case "strong":
      return `<b>${formatInline(token.tokens)}</b>`;
    case "em":
      return `<i>${formatInline(token.tokens)}</i>`;
    case "del":
      return `<s>${formatInline(token.tokens)}</s>`;
    case "codespan":
      return `<code>${escape(token.text as string)}</code>`;
    case "br":
      return "\n";
    case "link":
    case "image": {
      const text = token.type === "image" ? escape(token.text as string) : formatInline(token.tokens);
      const href = escape(token.href as string);
      return text === href ? text : `${text} (${href})`;
    }
    case "escape":
      return escape(token.text as string);
    case "text":
      return "tokens" in token && token.tokens ? formatInline(token.tokens) : escape(token.text as string);
    default:
      return escape(token.raw);
  }
}
