/**
 * Draws the blocks of Markdown as lines. What belongs to a token that stays the same is drawn once for each width. The source
 * of the tokens has no control characters.
 */
import type { Token, Tokens } from "@tau/markdown";
import { visibleWidth } from "../../text/cells.ts";
import { expandTabs } from "../../text/pad.ts";
import { wrapTextWithAnsi } from "../../text/wrap.ts";
import type { FormulaToken } from "./formula.ts";
import { drawInline } from "./inline.ts";
import { renderLatex } from "./latex/render-latex.ts";
import { renderMermaid } from "./mermaid/render-mermaid.ts";
import type { FenceToken } from "./stream.ts";
import { allocateColumns, type ColumnNeed, drawBorder, drawRow, measureCell } from "./table.ts";
import type { Look } from "./theme.ts";

const maxRuleWidth = 80;
const listIndent = 4;
const plainMarks = (text: string) => text;

/** How far a fence was drawn. */
interface DrawnFence {
  lineCount: number;
  /** The state of the highlighter. */
  state: unknown;
}

/** The diagram of a fence, as far as it was read. */
interface DrawnDiagram {
  key: string;
  /** Undefined if it is shown as its source. */
  lines: string[] | undefined;
}

interface Row {
  cells: string[];
  needs: ColumnNeed[];
  drawn?: { key: string; lines: string[] };
}

interface ItemPlace {
  marker: string;
  /** 0 in a list that is in no other. */
  depth: number;
}

export class MarkdownDrawing {
  readonly #look: Look;
  readonly #width: number;
  readonly #items = new WeakMap<object, { key: string; lines: string[] }>();
  readonly #rows = new WeakMap<object, Row>();
  readonly #fences = new WeakMap<object, DrawnFence>();
  readonly #diagrams = new WeakMap<object, DrawnDiagram>();
  /** How many blocks, items, rows and lines of code were drawn, not taken from memory. */
  drawnParts = 0;

  constructor(look: Look, width: number) {
    this.#look = look;
    this.#width = Math.max(1, width);
  }

  /** `previous` is what is drawn before the first token, if anything is. */
  drawBlocks(tokens: readonly Token[], previous?: Token): string[] {
    return this.#blocks(tokens, this.#look, this.#width, previous);
  }

  /**
   * The lines of a fence that will stay as they are, without those that were returned before, and the lines after them, which
   * more text may change. What was drawn is remembered by the array of its lines, to which later tokens of the fence add.
   */
  drawFence(token: FenceToken, isComplete: boolean): { finished: string[]; open: string[] } {
    const { lines, openLine, lang } = token;
    const { highlightCode, highlightCodeLine, mermaid = "off" } = this.#look.theme;
    // The source may become a diagram at any time, so that none of its lines stays.
    if (lang === "mermaid" && mermaid !== "off") {
      const diagram = isComplete || mermaid === "streaming" ? this.#diagram(token, isComplete) : undefined;
      return { finished: [], open: diagram ?? this.#codeBlock(token, this.#width) };
    }
    if (highlightCode && !highlightCodeLine) return { finished: [], open: this.#codeBlock(token, this.#width) };
    const drawn = this.#fences.get(lines) ?? { lineCount: 0, state: undefined };
    this.#fences.set(lines, drawn);
    const finished: string[] = [];
    for (; drawn.lineCount < lines.length; drawn.lineCount++) {
      const next = this.#codeLine(lines[drawn.lineCount] as string, lang, drawn.state, this.#width);
      drawn.state = next.state;
      for (const line of next.lines) finished.push(line);
    }
    const open =
      openLine === undefined && lines.length > 0
        ? []
        : this.#codeLine(openLine ?? "", lang, drawn.state, this.#width).lines;
    return { finished, open };
  }

  #diagram({ lines }: FenceToken, isComplete: boolean): string[] | undefined {
    const key = `${lines.length} ${isComplete}`;
    const known = this.#diagrams.get(lines);
    if (known?.key === key) return known.lines;
    this.drawnParts++;
    const { text, theme } = this.#look;
    const styles = { text, line: theme.codeBlockBorder };
    const drawn = { key, lines: renderMermaid(lines.join("\n"), { width: this.#width, styles, isComplete }) };
    this.#diagrams.set(lines, drawn);
    return drawn.lines;
  }

  #blocks(tokens: readonly Token[], look: Look, width: number, previous?: Token): string[] {
    const lines: string[] = [];
    let last = previous;
    for (const token of tokens) {
      if (needsGap(last, token)) lines.push("");
      for (const line of this.#block(token, look, width)) lines.push(line);
      last = token;
    }
    return lines;
  }

  #block(token: Token, look: Look, width: number): string[] {
    switch (token.type) {
      case "space":
        return [""];
      case "def":
      case "checkbox":
        return [];
      case "heading":
        return this.#heading(token as Tokens.Heading, look, width);
      case "code":
        return this.#codeBlock(token as Tokens.Code, width);
      case "blockquote":
        return this.#quote(token as Tokens.Blockquote, look, width);
      case "list":
        return this.#list(token as Tokens.List, look, width, 0);
      case "table":
        return this.#table(token as Tokens.Table, look, width);
      case "formula":
        return this.#formula(token as unknown as FormulaToken, look, width);
      case "hr":
        return [look.theme.hr("─".repeat(Math.min(width, maxRuleWidth)))];
      case "html":
        return this.#text([{ ...token, raw: token.raw.trim() } as Token], look, width);
      default:
        return this.#text((token as Tokens.Paragraph).tokens ?? [token], look, width);
    }
  }

  #text(tokens: readonly Token[], look: Look, width: number): string[] {
    this.drawnParts++;
    const text = drawInline(tokens, look, { text: look.text, marks: plainMarks });
    return wrapTextWithAnsi(expandTabs(text), width);
  }

  /** In one line if it is too wide otherwise, and as it is written if it cannot be drawn. */
  #formula(token: FormulaToken, look: Look, width: number): string[] {
    this.drawnParts++;
    const { renderLatex: isWanted = true } = look.options;
    const lines = (isWanted && renderLatex(token.text, { display: true })?.split("\n")) || [];
    const fits = lines.length > 0 && lines.every((line) => visibleWidth(line) <= width);
    if (fits) return lines.map((line) => (line === "" ? "" : look.text(line)));
    const text = (isWanted && renderLatex(token.text)) || "";
    const shown = text === "" || text.includes("\n") ? token.raw.trim() : text;
    return shown.split("\n").flatMap((line) => wrapTextWithAnsi(look.text(expandTabs(line)), width));
  }

  #heading({ depth, tokens }: Tokens.Heading, look: Look, width: number): string[] {
    this.drawnParts++;
    const { heading, bold, underline } = look.theme;
    const style = (text: string) => heading(bold(depth === 1 ? underline(text) : text));
    const mark = depth >= 3 ? style(`${"#".repeat(depth)} `) : "";
    return wrapTextWithAnsi(expandTabs(mark + drawInline(tokens, look, { text: style, marks: plainMarks })), width);
  }

  #quote({ tokens }: Tokens.Blockquote, look: Look, width: number): string[] {
    const { theme } = look;
    const text = (value: string) => theme.quote(theme.italic(value));
    const content = tokens.at(-1)?.type === "space" ? tokens.slice(0, -1) : tokens;
    const lines = this.#blocks(content, { ...look, text }, Math.max(1, width - 2));
    return lines.map((line) => theme.quoteBorder("│ ") + line);
  }

  #codeBlock(token: Tokens.Code, width: number): string[] {
    const { lang } = token;
    // The lexer counts the end of the last line of indented code as a line, if something follows.
    const text = token.codeBlockStyle === "indented" ? token.text.replace(/\n+$/, "") : token.text;
    const lines = isFence(token) ? toCodeLines(token) : text.split("\n");
    return this.#highlight(lines, lang, width);
  }

  #highlight(lines: readonly string[], lang: string | undefined, width: number): string[] {
    const { highlightCode, highlightCodeLine, codeBlockIndent = "  " } = this.#look.theme;
    if (highlightCode && !highlightCodeLine) {
      this.drawnParts++;
      const highlighted = highlightCode(expandTabs(lines.join("\n")), lang);
      return highlighted.flatMap((line) => wrapTextWithAnsi(codeBlockIndent + line, width));
    }
    let state: unknown;
    return lines.flatMap((line) => {
      const drawn = this.#codeLine(line, lang, state, width);
      state = drawn.state;
      return drawn.lines;
    });
  }

  #codeLine(
    line: string,
    lang: string | undefined,
    state: unknown,
    width: number,
  ): { lines: string[]; state: unknown } {
    this.drawnParts++;
    const { highlightCodeLine, codeBlock, codeBlockIndent = "  " } = this.#look.theme;
    const code = expandTabs(line);
    const drawn = highlightCodeLine?.(code, lang, state) ?? { line: codeBlock(code), state };
    return { lines: wrapTextWithAnsi(codeBlockIndent + drawn.line, width), state: drawn.state };
  }

  #list(list: Tokens.List, look: Look, width: number, depth: number): string[] {
    const lines: string[] = [];
    const start = typeof list.start === "number" ? list.start : 1;
    for (const [index, item] of list.items.entries()) {
      const marker = this.#marker(list, item, start + index);
      const key = `${width} ${depth} ${marker}`;
      let drawn = this.#items.get(item);
      if (drawn?.key !== key) {
        drawn = { key, lines: this.#item(item, { marker, depth }, look, width) };
        this.#items.set(item, drawn);
      }
      if (list.loose && index > 0) lines.push("");
      for (const line of drawn.lines) lines.push(line);
    }
    return lines;
  }

  #marker(list: Tokens.List, item: Tokens.ListItem, number: number): string {
    const own = this.#look.options.preserveOrderedListMarkers && /^\s*(\S+)/.exec(item.raw)?.[1];
    const marker = own || (list.ordered ? `${number}.` : "-");
    return `${marker} ${item.task ? `[${item.checked ? "x" : " "}] ` : ""}`;
  }

  #item(item: Tokens.ListItem, { marker, depth }: ItemPlace, look: Look, width: number): string[] {
    this.drawnParts++;
    const indent = " ".repeat(Math.min(depth * listIndent, Math.floor(width / 2)));
    const markerWidth = visibleWidth(marker);
    // A marker that leaves no room for a wide character has a line of its own.
    const isAlone = width - indent.length - markerWidth < 2;
    const margin = isAlone ? indent : indent + " ".repeat(markerWidth);
    const room = Math.max(1, width - margin.length);
    const tokens = item.tokens.filter(({ type }) => type !== "checkbox").map(trimText);
    while (tokens.at(-1)?.type === "space") tokens.pop();
    while (tokens[0]?.type === "space") tokens.shift();
    const lines: string[] = [];
    for (const token of tokens) {
      if (token.type === "list") {
        for (const line of this.#list(token as Tokens.List, look, width, depth + 1)) lines.push(line);
      } else for (const line of this.#block(token, look, room)) lines.push(line === "" ? "" : margin + line);
    }
    const first = lines[0] ?? "";
    const bullet = indent + look.theme.listBullet(marker);
    if (isAlone || tokens[0]?.type === "list" || !first.startsWith(margin)) return [bullet, ...lines];
    return [bullet + first.slice(margin.length), ...lines.slice(1)];
  }

  #table(table: Tokens.Table, look: Look, width: number): string[] {
    const rows = [this.#row(table.header, look, true), ...table.rows.map((row) => this.#row(row, look, false))];
    const needs = table.header.map((_, column) => getColumnNeed(rows, column));
    const widths = allocateColumns(needs, width - 3 * needs.length - 1);
    if (!widths) return this.#narrowTable(rows, width);
    const lines = [drawBorder(widths, ["┌", "┬", "┐"])];
    const between = drawBorder(widths, ["├", "┼", "┤"]);
    const columns = widths.map((columnWidth, index) => ({ width: columnWidth, align: table.align[index] ?? null }));
    const key = widths.join();
    for (const row of rows) {
      if (row.drawn?.key !== key) {
        this.drawnParts++;
        row.drawn = { key, lines: drawRow(row.cells, columns) };
      }
      if (row !== rows[0]) lines.push(between);
      for (const line of row.drawn.lines) lines.push(line);
    }
    if (rows.length === 1) lines.push(between);
    return [...lines, drawBorder(widths, ["└", "┴", "┘"])];
  }

  #row(cells: readonly Tokens.TableCell[], look: Look, isHeader: boolean): Row {
    const known = this.#rows.get(cells);
    if (known) return known;
    const marks = isHeader ? look.theme.bold : plainMarks;
    const drawn = cells.map(({ tokens }) => expandTabs(drawInline(tokens, look, { text: look.text, marks })));
    const row = { cells: drawn, needs: drawn.map(measureCell) };
    this.#rows.set(cells, row);
    return row;
  }

  /** Each cell on lines of its own, after the title of its column. */
  #narrowTable([header, ...rows]: readonly Row[], width: number): string[] {
    const titles = header?.cells ?? [];
    if (rows.length === 0) return titles.flatMap((title) => wrapTextWithAnsi(title, width));
    return rows.flatMap(({ cells }, index) => [
      ...(index === 0 ? [] : [""]),
      ...cells.flatMap((cell, column) => wrapTextWithAnsi(`${titles[column] ?? ""}: ${cell}`, width)),
    ]);
  }
}

/** Finds the need of the widest cell of a column. */
function getColumnNeed(rows: readonly Row[], column: number): ColumnNeed {
  const need = { natural: 0, word: 0 };
  for (const { needs } of rows) {
    need.natural = Math.max(need.natural, needs[column]?.natural ?? 0);
    need.word = Math.max(need.word, needs[column]?.word ?? 0);
  }
  return need;
}

export const isFence = (token: Token | undefined): token is FenceToken => token?.type === "code" && "lines" in token;

const toCodeLines = ({ lines, openLine }: FenceToken): readonly string[] =>
  openLine === undefined && lines.length > 0 ? lines : [...lines, openLine ?? ""];

/** A definition draws nothing, but it is between two paragraphs all the same. */
export function needsGap(token: Token | undefined, next: Token): boolean {
  if (!token || next.type === "space") return false;
  if (token.type === "paragraph") return next.type !== "list";
  return ["heading", "code", "blockquote", "hr", "table", "formula"].includes(token.type);
}

/** Whether line feeds end the text of an item, or code in it that has no end, depends on what follows the item. */
function trimText(token: Token): Token {
  if (token.type === "code" && !/\n[ \t]*(?:`{3,}|~{3,})\s*$/.test(token.raw)) {
    return { ...token, text: (token as Tokens.Code).text.trimEnd() } as Token;
  }
  const { tokens } = token as Tokens.Text;
  const last = tokens?.at(-1);
  if (!tokens || last?.type !== "text" || !/\s$/.test(last.raw)) return token;
  const text = (last as Tokens.Text).text.trimEnd();
  return { ...token, tokens: [...tokens.slice(0, -1), { ...last, text }] } as Token;
}
