/** The texts in diagrams. */
import { visibleWidth } from "../../../text/cells.ts";
import { toPlainLine } from "../../../text/plain.ts";
import { wrapTextWithAnsi } from "../../../text/wrap.ts";
import { decodeEntities } from "../entities.ts";

const lineBreak = /<br\s*\/?>|\\n|\n/i;
const formatting = /<\/?(?:b|i|u|em|strong|small|sub|sup|code|span|center|font)\b[^>]*>/gi;

/** Removes what is about the look of a text. The lines that its author wanted stay apart by line feeds. */
export const toLabel = (source: string): string =>
  unquote(source.trim())
    .replace(formatting, "")
    .split(lineBreak)
    .map((line) => toPlainLine(decodeEntities(line)))
    .join("\n")
    .trim();

/** Removes quotes that are the same at both ends. */
function unquote(text: string): string {
  const [quotes = ""] = /^["'`]+/.exec(text) ?? [];
  for (let count = Math.min(quotes.length, Math.floor(text.length / 2)); count > 0; count--) {
    if (text.endsWith(text.slice(0, count))) return text.slice(count, -count);
  }
  return text;
}

/** The lines of a label, each of at most `maxWidth` columns as far as its characters allow. */
export const wrapLabel = (label: string, maxWidth: number): string[] =>
  label === "" ? [] : label.split("\n").flatMap((line) => wrapTextWithAnsi(line, maxWidth));

export const measureLines = (lines: readonly string[]): number => Math.max(0, ...lines.map(visibleWidth));
