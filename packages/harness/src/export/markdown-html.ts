/**
 * Markdown as HTML that is safe whatever the Markdown was: every tag is ours, everything of the text is escaped. It knows
 * what models write: headings, lists, tables, fences, quotes, rules. HTML in the text is text.
 */
import { inlineHtml } from "./inline.ts";
import { clean, escapeHtml } from "./text.ts";

export function markdownHtml(text: string): string {
  const lines = clean(text)
    .split("\n")
    .map((line) => line.replace(/^[ \t]+/, (indent) => indent.replaceAll("\t", "    ")));
  return blocksHtml(lines, { depth: 0, isTight: false });
}

/** Deeper lists and quotes are shown as text: it bounds the work and the depth of tags. */
const deepest = 12;

interface BlockContext {
  depth: number;
  /** Paragraphs of a list without blank lines have no distance to each other. */
  isTight: boolean;
}

interface Block {
  html: string;
  /** The line after it. */
  end: number;
}

type Reader = (lines: readonly string[], at: number, depth: number) => Block | undefined;

function blocksHtml(lines: readonly string[], { depth, isTight }: BlockContext): string {
  const parts: string[] = [];
  for (let at = 0; at < lines.length;) {
    if (isBlank(lines[at]!)) at++;
    else {
      const block = blockAt(lines, at, depth) ?? paragraphAt(lines, at, isTight);
      parts.push(block.html);
      at = block.end;
    }
  }
  return parts.join("\n");
}

function blockAt(lines: readonly string[], at: number, depth: number): Block | undefined {
  for (const read of depth < deepest ? readers : flatReaders) {
    const block = read(lines, at, depth);
    if (block) return block;
  }
  return undefined;
}

const isBlank = (line: string) => line.trim() === "";
const getIndent = (line: string) => line.length - line.trimStart().length;

// A run is taken whole: one that could give marks back to what follows it would be tried at every length.
const fenceStart = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/;

const fenceAt: Reader = (lines, at) => {
  const [, fence, info] = fenceStart.exec(lines[at]!) ?? [];
  if (fence === undefined) return undefined;
  const indent = getIndent(lines[at]!);
  let end = at + 1;
  while (end < lines.length && !isFenceEnd(lines[end]!, fence)) end++;
  const code = lines.slice(at + 1, end).map((line) => line.slice(Math.min(indent, getIndent(line))));
  const language = info?.trim() ? `<figcaption>${escapeHtml(info.trim())}</figcaption>` : "";
  return {
    html: `<figure class="code">${language}<pre><code>${escapeHtml(code.join("\n"))}</code></pre></figure>`,
    end: end + 1,
  };
};

function isFenceEnd(line: string, fence: string): boolean {
  const text = line.trim();
  return getIndent(line) < 4 && text.length >= fence.length && text === fence[0]!.repeat(text.length);
}

const headingAt: Reader = (lines, at) => {
  const [start, marks] = /^ {0,3}(#{1,6})(?:[ \t]|$)/.exec(lines[at]!) ?? [];
  if (start === undefined || marks === undefined) return undefined;
  // The page has headings of its own above these.
  const level = Math.min(marks.length + 2, 6);
  const text = lines[at]!.slice(start.length).trim().replace(/ #+$/, "");
  return { html: `<h${level}>${inlineHtml(text)}</h${level}>`, end: at + 1 };
};

function isRule(line: string): boolean {
  if (!/^ {0,3}[-*_]/.test(line)) return false;
  const marks = line.replace(/[ \t]/g, "");
  return marks.length >= 3 && /^(?:-+|\*+|_+)$/.test(marks);
}

const ruleAt: Reader = (lines, at) => (isRule(lines[at]!) ? { html: "<hr>", end: at + 1 } : undefined);

const quoteStart = /^ {0,3}> ?/;

const quoteAt: Reader = (lines, at, depth) => {
  let end = at;
  while (end < lines.length && quoteStart.test(lines[end]!)) end++;
  if (end === at) return undefined;
  const inner = lines.slice(at, end).map((line) => line.replace(quoteStart, ""));
  return { html: `<blockquote>${blocksHtml(inner, { depth: depth + 1, isTight: false })}</blockquote>`, end };
};

const tableAt: Reader = (lines, at) => {
  const columns = alignmentsAt(lines, at);
  if (!columns) return undefined;
  let end = at + 2;
  while (end < lines.length && lines[end]!.includes("|")) end++;
  // Cells that are missing are not made up: a short text must not become a long table.
  const rowHtml = (line: string, tag: string) =>
    `<tr>${getCells(line)
      .slice(0, columns.length)
      .map((cell, column) => `<${tag}${columns[column]}>${inlineHtml(cell)}</${tag}>`)
      .join("")}</tr>`;
  const rows = lines.slice(at + 2, end).map((line) => rowHtml(line, "td"));
  const head = `<thead>${rowHtml(lines[at]!, "th")}</thead>`;
  return { html: `<div class="table"><table>${head}<tbody>${rows.join("\n")}</tbody></table></div>`, end };
};

/** The attributes of a table's columns; undefined where no table begins. */
function alignmentsAt(lines: readonly string[], at: number): string[] | undefined {
  const rule = lines[at + 1];
  if (!lines[at]!.includes("|") || !rule?.includes("-") || !/^[ |:-]+$/.test(rule)) return undefined;
  const cells = getCells(rule);
  if (!cells.every((cell) => /^:?-+:?$/.test(cell)) || cells.length !== getCells(lines[at]!).length) return undefined;
  return cells.map((cell) => (!cell.endsWith(":") ? "" : cell.startsWith(":") ? ' class="mid"' : ' class="right"'));
}

function getCells(line: string): string[] {
  const cells: string[] = [];
  const row = line.trim();
  let from = row.startsWith("|") ? 1 : 0;
  for (const { 0: found, index } of row.matchAll(/\\?\|/g)) {
    if (found !== "|" || index < from) continue;
    cells.push(row.slice(from, index));
    from = index + 1;
  }
  if (from < row.length) cells.push(row.slice(from));
  return cells.map((cell) => cell.replaceAll("\\|", "|").trim());
}

interface Marker {
  indent: number;
  /** Where the text of the item begins. */
  contentAt: number;
  /** Undefined for a bullet. */
  number: number | undefined;
}

function getMarker(line: string): Marker | undefined {
  const [all, indent, number] = /^( *)(?:[-*+]|(\d{1,9})[.)])(?: {1,4}|$)/.exec(line) ?? [];
  if (all === undefined || indent === undefined || isRule(line)) return undefined;
  return { indent: indent.length, contentAt: all.length, number: number === undefined ? undefined : Number(number) };
}

const listAt: Reader = (lines, at, depth) => {
  const first = getMarker(lines[at]!);
  if (!first) return undefined;
  const isOrdered = first.number !== undefined;
  const items: string[] = [];
  let end = at;
  for (let next = at; next < lines.length;) {
    const marker = getMarker(lines[next]!);
    if (!marker || (marker.number !== undefined) !== isOrdered) break;
    const item = itemLines(lines, next, marker);
    items.push(`<li>${itemHtml(item.lines, depth)}</li>`);
    end = item.end;
    next = item.next;
  }
  const start = first.number !== undefined && first.number !== 1 ? ` start="${first.number}"` : "";
  const tag = isOrdered ? "ol" : "ul";
  return { html: `<${tag}${start}>\n${items.join("\n")}\n</${tag}>`, end };
};

/** The lines of one item without their indent; `next` is where the next item could be, behind blank lines. */
function itemLines(lines: readonly string[], at: number, marker: Marker) {
  const own = [lines[at]!.slice(marker.contentAt)];
  let end = at + 1;
  let next = end;
  for (; next < lines.length; next++) {
    const line = lines[next]!;
    if (isBlank(line)) continue;
    const indent = getIndent(line);
    const isInside = indent >= marker.indent + 2;
    // A paragraph may go on without its indent.
    const isLazy = next === end && !isBlank(own.at(-1)!) && !getMarker(line) && !startsBlock(lines, next);
    if (!isInside && !isLazy) break;
    for (; end < next; end++) own.push("");
    own.push(line.slice(Math.min(indent, marker.contentAt)));
    end = next + 1;
  }
  return { lines: own, end, next };
}

function itemHtml(lines: string[], depth: number): string {
  const [first = "", ...others] = lines;
  const task = /^\[([ xX])\] /.exec(first);
  const text = task ? `${task[1] === " " ? "☐" : "☑"} ${first.slice(4)}` : first;
  return blocksHtml([text, ...others], { depth: depth + 1, isTight: !lines.includes("") });
}

/** What ends a paragraph without a blank line. A number does only when it is the first of a list. */
function startsBlock(lines: readonly string[], at: number): boolean {
  const line = lines[at]!;
  if (fenceStart.test(line) || quoteStart.test(line) || isRule(line) || /^ {0,3}#{1,6}(?: |$)/.test(line)) return true;
  const marker = getMarker(line);
  return marker ? (marker.number ?? 1) === 1 : alignmentsAt(lines, at) !== undefined;
}

function paragraphAt(lines: readonly string[], at: number, isTight: boolean): Block {
  let end = at + 1;
  while (end < lines.length && !isBlank(lines[end]!) && !startsBlock(lines, end)) end++;
  const text = lines
    .slice(at, end)
    .map((line) => line.trim())
    .join("\n");
  return { html: isTight ? inlineHtml(text) : `<p>${inlineHtml(text)}</p>`, end };
}

const flatReaders: readonly Reader[] = [fenceAt, headingAt, ruleAt, tableAt];
const readers: readonly Reader[] = [...flatReaders, quoteAt, listAt];
