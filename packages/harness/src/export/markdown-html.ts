/** Draws Markdown as HTML. Every tag is written here, and all text of the Markdown is escaped. */
import { assertNever } from "@tau/ai/internal";
import { lexMarkdown, type MarkdownToken, type Token, type Tokens, toMarkdownTokens } from "@tau/markdown";
import { clean, escapeHtml } from "./text.ts";

export const markdownHtml = (text: string): string => blocksHtml(lexMarkdown(clean(text)));

const blocksHtml = (tokens: readonly Token[]): string =>
  toMarkdownTokens(tokens)
    .map((token) => tokenHtml(token, false))
    .filter(Boolean)
    .join("\n");

const inlineHtml = (tokens: readonly Token[], isInLink = false): string =>
  toMarkdownTokens(tokens)
    .map((token) => tokenHtml(token, isInLink))
    .join("");

/** `isInLink`: HTML has no links inside links. */
function tokenHtml(token: MarkdownToken, isInLink: boolean): string {
  switch (token.type) {
    case "space":
      return "";
    case "heading": {
      // The page uses the two highest levels itself.
      const level = Math.min(token.depth + 2, 6);
      return `<h${level}>${inlineHtml(token.tokens)}</h${level}>`;
    }
    case "paragraph":
      return `<p>${inlineHtml(token.tokens)}</p>`;
    case "code": {
      const caption = token.lang ? `<figcaption>${escapeHtml(token.lang)}</figcaption>` : "";
      return `<figure class="code">${caption}<pre><code>${escapeHtml(token.text)}</code></pre></figure>`;
    }
    case "blockquote":
      return `<blockquote>${blocksHtml(token.tokens)}</blockquote>`;
    case "list": {
      const tag = token.ordered ? "ol" : "ul";
      const start = token.ordered && token.start !== 1 ? ` start="${token.start}"` : "";
      return `<${tag}${start}>\n${blocksHtml(token.items)}\n</${tag}>`;
    }
    case "list_item":
      return `<li>${blocksHtml(token.tokens)}</li>`;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "table":
      return tableHtml(token);
    case "hr":
      return "<hr>";
    case "def":
      // Shown, because nothing that was written may be hidden.
      return `<p>${textHtml(token.raw.trim())}</p>`;
    case "text":
      // `text` may hold decoded character references, which could be control characters.
      return token.tokens ? inlineHtml(token.tokens, isInLink) : textHtml(token.raw);
    case "html":
      return textHtml(token.raw);
    case "escape":
      return escapeHtml(token.text);
    case "br":
      return "<br>\n";
    case "codespan":
      return `<code>${escapeHtml(token.text)}</code>`;
    case "em":
    case "strong":
    case "del":
      return `<${token.type}>${inlineHtml(token.tokens, isInLink)}</${token.type}>`;
    case "link":
    case "image":
      // An image is a link too: loading it would tell its server who reads the page.
      return isInLink ? inlineHtml(token.tokens, true) : linkHtml(token);
    default:
      return assertNever(token);
  }
}

const textHtml = (text: string): string => escapeHtml(text).replaceAll("\n", "<br>\n");

function linkHtml(token: Tokens.Link | Tokens.Image): string {
  const { href } = token;
  const isSafe = /^(?:https?:\/\/|mailto:)[^\s<>"]+$/i.test(href);
  if (!isSafe && token.type === "link" && token.autolink) return textHtml(token.raw);
  const text = inlineHtml(token.tokens, true);
  const title = token.title ? ` title="${escapeHtml(token.title)}"` : "";
  return isSafe
    ? `<a href="${escapeHtml(href)}"${title} rel="noopener noreferrer" target="_blank">${text}</a>`
    : `<span${title}>${text}</span> <span class="url">(${escapeHtml(href)})</span>`;
}

function tableHtml({ header, rows }: Tokens.Table): string {
  const rowHtml = (cells: readonly Tokens.TableCell[]) => `<tr>${cells.map(cellHtml).join("")}</tr>`;
  const body = rows.map(rowHtml).join("\n");
  return `<div class="table"><table><thead>${rowHtml(header)}</thead><tbody>${body}</tbody></table></div>`;
}

function cellHtml({ header, align, tokens }: Tokens.TableCell): string {
  const tag = header ? "th" : "td";
  const alignment = align === "center" || align === "right" ? ` class="${align}"` : "";
  return `<${tag}${alignment}>${inlineHtml(tokens)}</${tag}>`;
}
