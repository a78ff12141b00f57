/** Draws what is inside paragraphs. */
import type { Token, Tokens } from "@tau/markdown";
import { getCapabilities } from "../../terminal/capabilities.ts";
import { hyperlink } from "../../terminal/hyperlink.ts";
import { toPlainText } from "../../text/plain.ts";
import { decodeEntities } from "./entities.ts";
import type { FormulaToken } from "./formula.ts";
import { renderLatex } from "./latex/render-latex.ts";
import type { Look } from "./theme.ts";

type Style = (text: string) => string;

interface InlineStyle {
  /** The style of plain text: not of code. */
  text: Style;
  /** The style of everything: bold, links and the like. */
  marks: Style;
}

/** Text with styles and line breaks. Each piece of text ends what it begins, so that pieces can follow each other. */
export function drawInline(tokens: readonly Token[], look: Look, style: InlineStyle): string {
  return tokens
    .map((token, index) => {
      const text = drawToken(token, look, style);
      if (token.type !== "formula" || !text.includes("\n")) return text;
      // Lines that belong together are not beside other text.
      return `${index > 0 ? "\n" : ""}${text}${index < tokens.length - 1 ? "\n" : ""}`;
    })
    .join("");
}

function drawToken(token: Token, look: Look, style: InlineStyle): string {
  const { theme } = look;
  const children = token as { tokens?: Token[] };
  const drawChildren = (mark: Style): string =>
    drawInline(children.tokens ?? [], look, { ...style, marks: (text) => style.marks(mark(text)) });
  switch (token.type) {
    case "strong":
      return drawChildren(theme.bold);
    case "em":
      return drawChildren(theme.italic);
    case "del":
      // One tilde is how people write "about".
      return token.raw.startsWith("~~") ? drawChildren(theme.strikethrough) : drawSingleTilde(token, look, style);
    case "codespan":
      return style.marks(theme.code(toPlainText((token as Tokens.Codespan).text)));
    case "link":
      return drawLink(token as Tokens.Link, look, style);
    case "formula":
      return drawFormula(token as FormulaToken, look, style);
    case "br":
      return "\n";
    case "checkbox":
      return "";
    case "escape":
      return drawText(shouldKeepEscape(token.raw, look) ? token.raw : (token as Tokens.Escape).text, style);
    case "html":
      return drawText(token.raw, style);
    case "image":
      return drawText(decodeEntities((token as Tokens.Image).text), style);
    default:
      if (children.tokens) return drawInline(children.tokens, look, style);
      return drawText(decodeEntities("text" in token ? String(token.text) : token.raw), style);
  }
}

/** Draws a formula, or its source if it cannot be drawn. */
function drawFormula({ raw, text }: FormulaToken, { options }: Look, style: InlineStyle): string {
  const formula = options.renderLatex === false ? undefined : renderLatex(text);
  return drawText(formula ?? raw, style);
}

function drawSingleTilde(token: Token, look: Look, style: InlineStyle): string {
  const { tokens } = token as Tokens.Del;
  return drawText("~", style) + drawInline(tokens, look, style) + drawText("~", style);
}

/** Brackets with a backslash begin formulas, which are shown as they are written. */
const shouldKeepEscape = (raw: string, { options }: Look) =>
  options.preserveBackslashEscapes === true || /^\\[()[\]]$/.test(raw);

function drawText(text: string, { text: plain, marks }: InlineStyle): string {
  const lines = toPlainText(text).split("\n");
  return lines.map((line) => (line === "" ? "" : marks(plain(line)))).join("\n");
}

function drawLink(link: Tokens.Link, look: Look, style: InlineStyle): string {
  const { theme } = look;
  const marks: Style = (text) => style.marks(theme.link(theme.underline(text)));
  const text = drawInline(link.tokens, look, { ...style, marks });
  const url = toPlainText(link.href).replaceAll(/\s/g, "");
  if (getCapabilities().hyperlinks) return hyperlink(text, url);
  const isShown = link.text === link.href || link.text === link.href.replace(/^mailto:/, "");
  return isShown ? text : text + style.marks(theme.linkUrl(` (${url})`));
}
