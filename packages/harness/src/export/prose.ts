/** Markdown of a message put into a larger document without any power over it. */
import { codeSpans, isPunctuation } from "./inline-parts.ts";
import { clean } from "./text.ts";
import { fenced } from "../fence.ts";

/**
 * The text as Markdown: its headings two levels lower, its HTML as text, its fences all closed. Where we and other readers
 * of Markdown could disagree about where a fence ends, it is shown as it was written, in a fence of its own.
 */
export function prose(text: string): string {
  const lines = clean(text).replace(/^\n+/, "").trimEnd().split("\n");
  const parts: string[] = [];
  for (let at = 0; at < lines.length;) {
    const fence = getFence(lines[at]!);
    if (!fence) {
      const end = paragraphEnd(lines, at);
      parts.push(tame(lines.slice(at, end)));
      at = end;
    } else {
      const end = fenceEnd(lines, at, fence);
      if (end === undefined) return fenced(lines.join("\n"), "markdown");
      parts.push(...lines.slice(at, end));
      at = end;
    }
  }
  return parts.join("\n");
}

interface Fence {
  indent: number;
  marks: string;
}

/** A run is taken whole: one that could give marks back to what follows it would be tried at every length. */
function getFence(line: string): Fence | undefined {
  const [, indent, marks] = /^(\s*)(`{3,}(?!`)|~{3,}(?!~))[^`]*$/.exec(line) ?? [];
  return indent === undefined || marks === undefined ? undefined : { indent: indent.length, marks };
}

/**
 * After the line that closes a fence; undefined when it is not certain that one does. It is certain where both ends have the
 * same small indent and nothing between them has less: then it makes no difference whether a list holds them.
 */
function fenceEnd(lines: readonly string[], at: number, { indent, marks }: Fence): number | undefined {
  if (indent > 3 || lines[at]!.includes("\t")) return undefined;
  for (let end = at + 1; end < lines.length; end++) {
    const line = lines[end]!;
    if (line.trim() === "") continue;
    const text = line.trim();
    const lineIndent = line.length - line.trimStart().length;
    if (lineIndent < indent) return undefined;
    const isClosing = text.length >= marks.length && text === marks[0]!.repeat(text.length);
    if (isClosing && lineIndent < 4) return lineIndent === indent ? end + 1 : undefined;
  }
  return undefined;
}

function paragraphEnd(lines: readonly string[], at: number): number {
  let end = at + 1;
  while (end < lines.length && lines[end - 1]!.trim() !== "" && !getFence(lines[end]!)) end++;
  return end;
}

/** Lines outside of fences: HTML becomes text, headings sink. */
function tame(lines: readonly string[]): string {
  // Code that goes on in another line ends where the block ends, and only a whole reader of Markdown knows where that is.
  const isCertain = lines.every(hasWholeCode);
  return lines.map((line, at) => withoutHtml(lowered(line, at > 0), isCertain && !line.includes("|"))).join("\n");
}

function lowered(line: string, hasTextAbove: boolean): string {
  // An underline makes a heading of the line above it.
  if (hasTextAbove && /^ {0,3}(?:=+|-+)\s*$/.test(line)) return line.replace(/[=-]/, "\\$&");
  return line.replace(/^ {0,3}#{1,6}(?=\s|$)/, (start) => (start.includes("#####") ? start : `##${start.trim()}`));
}

/** Whether all code in a line ends in it. */
function hasWholeCode(line: string): boolean {
  if (!line.includes("`")) return true;
  for (const at of textPlaces(line, true)) if (line[at] === "`") return false;
  return true;
}

/** Where a line is text: neither escaped nor, where that is certain, in code. */
function* textPlaces(line: string, knowsCode: boolean): Generator<number> {
  const spans = knowsCode ? codeSpans(line) : undefined;
  for (let at = 0; at < line.length;) {
    const span = spans?.get(at);
    if (span) at = span.end;
    else if (line[at] === "\\" && isPunctuation(line[at + 1])) at += 2;
    else yield at++;
  }
}

const htmlStart = /<[A-Za-z/!?]/y;
const address = /<(?:https?:\/\/|mailto:)[^\s<>]{1,2048}>/iy;

function withoutHtml(line: string, knowsCode: boolean): string {
  if (!line.includes("<")) return line;
  const isAt = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at;
    return pattern.test(line);
  };
  let safe = "";
  let from = 0;
  for (const at of textPlaces(line, knowsCode)) {
    if (!isAt(htmlStart, at) || isAt(address, at)) continue;
    safe += `${line.slice(from, at)}\\`;
    from = at;
  }
  return safe + line.slice(from);
}
