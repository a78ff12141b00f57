/**
 * Lexes Markdown that arrives in pieces. What is complete is lexed once: whole blocks, the items of a list, the rows of a
 * table and the lines of a fence. Only what later text can still change, the open part, is lexed again.
 *
 * Decisions are made at ends of lines only, so that the result does not depend on how the text was cut into pieces. The lexer
 * itself decides: a block is complete when the lexer, given the next line too, begins a new block with that line.
 */
import type { Links, Token, Tokens } from "@tau/markdown";
import { toPlainText } from "../../text/plain.ts";
import { formulaExtensions, hasOpenFormula, mayHaveFormula } from "./formula.ts";
import { StreamingLexer } from "@tau/markdown";
import { isPlainLine, toPlainTokens } from "./plain-line.ts";

/** A fence at the top has lines instead of a text. The array only grows; `openLine` is the line that is not complete. */
export type FenceToken = Tokens.Code & { lines: readonly string[]; openLine: string | undefined };

/** A part that is complete, with what the lexer makes of it alone. */
interface Unit {
  readonly source: string;
  tokens: Token[];
}

interface Lexed {
  tokens: Token[];
  /** Definitions in the source that are not known yet. */
  links: Links;
}

/** The item of a list to which more lines may belong. */
interface OpenItem {
  /** The first line of an item with the same marker and the same indent. */
  readonly start: string;
  /** The character that all items of a list have: a bullet, or what follows the number. */
  readonly bullet: string | undefined;
  /** The column in which the text of the item begins. */
  readonly contentIndent: number;
  /** Whether there is text in its first line. */
  readonly hasText: boolean;
  /** The last line that is not blank, after the first. */
  lastLine: string | undefined;
}

/** Blocks that belong together. A list has a unit for each item, a table one for the rows that were complete at an update. */
type Section =
  | { kind: "blocks"; units: Unit[] }
  | { kind: "list"; units: Unit[]; item: OpenItem }
  | { kind: "table"; head: string; units: Unit[] }
  | { kind: "fence"; opening: string; lang: string | undefined; lines: string[]; openLine?: string };

interface Update {
  /** Tokens that are complete, since the last update; all of them if `isReset`. */
  complete: Token[];
  /** Whether earlier tokens are reported again: a definition of a link changed them, or `reportAll` was called. */
  isReset: boolean;
  /** The rest, which may still change. */
  open: Token[];
}

const listStart = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
const fenceStart = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const thematicBreak = /^ {0,3}([-_*])(?:[ \t]*\1){2,}[ \t]*$/;
/** No block but a table has lines that begin like this. */
const rowStart = /^ {0,3}\|/;
const delimiterRow = /^ {0,3}[|:-][ |:-]*$/;
/** A line that may begin a block although there is no blank line before it. */
const blockStart = /^ {0,3}(?:#{1,6}(?:[ \t]|$)|`{3}|~{3}|<|>|[-+*][ \t]|1[.)][ \t]|[-_*](?:[ \t]*[-_*]){2,}[ \t]*$)/;

/** Shared by all lexers: they keep their tokenizer in it. */
const plainOptions = { gfm: true };
const formulaOptions = { gfm: true, extensions: formulaExtensions };
/** Most texts have no formula, and looking for one takes time. */
const createLexer = (source: string) =>
  new StreamingLexer(source, mayHaveFormula(source) ? formulaOptions : plainOptions);

export class MarkdownStream {
  readonly #sections: Section[] = [];
  /** How many sections the last update had. */
  #reported = 0;
  #section: Section = { kind: "blocks", units: [] };
  /** Complete lines of the open part. */
  #source = "";
  /**
   * The first character of the open part that is no blank; empty if there is none. Known without a look at `#source`, which
   * would be copied as a whole for that, with each line.
   */
  #firstCharacter = "";
  /** The line that is not complete. */
  #line = "";
  #hasBlankEnd = false;
  /** After a check that found no new block, the next is made when the open part is half as long again. */
  #nextCheck = 0;
  readonly #links: Links = Object.create(null);
  #openLinks: Links = Object.create(null);
  /** The parts that may have a link with a label. */
  readonly #references = new Map<string, Unit[]>();
  #isReset = false;
  /** How many characters the lexer was given. */
  lexedCharacters = 0;

  append(text: string): void {
    const lines = text.split("\n");
    const last = lines.pop() as string;
    for (const line of lines) {
      this.#addLine(toPlainText(this.#line + line));
      this.#line = "";
    }
    this.#line += last;
  }

  /** The next update has all tokens, because everything is drawn anew. */
  reportAll(): void {
    this.#isReset = true;
  }

  update(): Update {
    if (this.#section.kind === "table") this.#freeze();
    const open = this.#lexOpen();
    if (this.#isReset) this.#reported = 0;
    const complete = this.#sections.slice(this.#reported).flatMap(toTokens);
    const isReset = this.#isReset;
    this.#reported = this.#sections.length;
    this.#isReset = false;
    return { complete, isReset, open };
  }

  #addLine(line: string): void {
    const isBlank = line.trim() === "";
    if (this.#section.kind === "fence") this.#addCode(this.#section, line);
    else if (this.#section.kind === "table") this.#addRow(this.#section, line);
    else if (this.#section.kind === "list" && !isBlank) this.#addToList(this.#section, line);
    else if (this.#section.kind === "blocks" && !isBlank) this.#addToBlocks(line);
    else this.#source += `${line}\n`;
    this.#hasBlankEnd = isBlank;
  }

  #addCode(fence: Section & { kind: "fence" }, line: string): void {
    if (isFenceEnd(fence.opening, line)) this.#close();
    else fence.lines.push(stripFenceIndent(fence.opening, line));
  }

  #addRow(table: Section & { kind: "table" }, line: string): void {
    if (rowStart.test(line)) {
      this.#source += `${line}\n`;
      return;
    }
    this.#freeze();
    const row = `${table.head}${line}\n`;
    const lexed = line.trim() === "" ? undefined : this.#lex(row);
    if (lexed?.tokens.length === 1 && (lexed.tokens[0] as Tokens.Table).rows?.length === 1) this.#addUnit(row, lexed);
    else {
      this.#close();
      this.#addLine(line);
    }
  }

  #addToList(list: Section & { kind: "list" }, line: string): void {
    const { item } = list;
    const isContent = !isEmptyItem(item) && getIndent(line) >= item.contentIndent;
    const itemCount = isContent ? 1 : this.#countItems(item, line);
    if (itemCount === 1) {
      this.#source += `${line}\n`;
      item.lastLine = line;
    } else if (itemCount === 2) {
      this.#freeze();
      this.#source = `${line}\n`;
      list.item = toOpenItem(line);
    } else {
      this.#close();
      this.#addLine(line);
    }
  }

  /** How many items the list has that begins with the open item; 0 if it does not continue with `line`. */
  #countItems(item: OpenItem, line: string): number {
    const isIndented = /^[ \t]/.test(line);
    const isItem = !isIndented && isListStart(line) && toOpenItem(line).bullet === item.bullet;
    if (isItem && !isEmptyItem(item)) return 2;
    // After a blank line only what is indented and other items belong to a list.
    if (this.#hasBlankEnd && !isIndented && !listStart.test(line)) return 0;
    // Only the line before it decides. With all lines of the item, each line would take longer than the one before.
    const before =
      item.lastLine === undefined ? this.#source : `${item.start}\n${item.lastLine}\n${this.#hasBlankEnd ? "\n" : ""}`;
    const [list, ...rest] = this.#lexBlocks(`${before}${line}\n`);
    return rest.length === 0 && list?.type === "list" ? (list as Tokens.List).items.length : 0;
  }

  #addToBlocks(line: string): void {
    if (this.#firstCharacter === "") return this.#begin(line);
    const isNew = this.#hasBlankEnd && !/^[ \t]/.test(line);
    if (isNew && this.#source.length >= this.#nextCheck && this.#closeText()) return this.#begin(line);
    const mayBegin = isNew || (!this.#hasBlankEnd && blockStart.test(line) && !this.#isSameBlock(line));
    const isDelimiter = delimiterRow.test(line) && line.includes("-");
    const source = `${this.#source}${line}\n`;
    if ((mayBegin || isDelimiter) && source.length >= this.#nextCheck) {
      const tokens = this.#lexBlocks(source);
      const start = source.length - (tokens.at(-1)?.raw.length ?? 0);
      if (tokens.at(-1)?.type === "table" && isDelimiter) return this.#beginTable(source, start);
      // Lines of a formula may look like anything.
      const isInFormula = !isNew && hasOpenFormula(this.#source);
      if (mayBegin && !isInFormula && this.#isWhole(tokens.slice(0, -1))) {
        this.#close();
        return this.#begin(line);
      }
      this.#nextCheck = source.length * 1.5;
    }
    this.#source = source;
  }

  /** After a blank line these blocks never continue. That is the usual case, and needs no more than the one lexing. */
  #closeText(): boolean {
    const lexed = this.#lex(this.#source);
    const last = lexed.tokens.findLast(({ type }) => type !== "space")?.type ?? "";
    if (!["paragraph", "heading", "hr", "blockquote"].includes(last)) return false;
    this.#addUnit(this.#source, lexed);
    this.#source = "";
    this.#close();
    return true;
  }

  /** Whether the open part has these blocks, also without what follows it. */
  #isWhole(blocks: readonly Token[]): boolean {
    const length = blocks.reduce((sum, { raw }) => sum + raw.length, 0);
    if (length !== this.#source.length) return false;
    const alone = this.#lexBlocks(this.#source);
    return alone.length === blocks.length && alone.every(({ type }, index) => type === blocks[index]?.type);
  }

  /** Each line of a quote looks like the beginning of one, and so do lines of HTML. */
  #isSameBlock(line: string): boolean {
    const first = this.#firstCharacter;
    return (first === ">" || first === "<") && line.trimStart().startsWith(first);
  }

  /** Nothing but blank lines came before `line`. */
  #begin(line: string): void {
    const fence = fenceStart.exec(line);
    if (fence && !(fence[2]?.startsWith("`") && fence[3]?.includes("`"))) {
      this.#close();
      const info = fence[3]?.trim() ?? "";
      const lang = /^\w*$/.test(info) ? info : (this.#lexBlocks(`${line}\n`)[0] as Tokens.Code).lang;
      this.#section = { kind: "fence", opening: line, lang, lines: [] };
      return;
    }
    if (isListStart(line)) {
      this.#close();
      this.#section = { kind: "list", units: [], item: toOpenItem(line) };
    }
    this.#source += `${line}\n`;
    this.#firstCharacter = line.trimStart()[0] ?? "";
  }

  #beginTable(source: string, start: number): void {
    this.#source = source.slice(0, start);
    this.#close();
    this.#section = { kind: "table", head: source.slice(start), units: [] };
  }

  #freeze(): void {
    const section = this.#section;
    const hasHead = section.kind === "table" && (this.#source !== "" || section.units.length === 0);
    const source = hasHead ? section.head + this.#source : this.#source;
    if (source !== "") this.#addUnit(source, this.#lex(source));
    this.#source = "";
  }

  #close(): void {
    this.#freeze();
    if (this.#section.kind === "fence" || this.#section.units.length > 0) this.#sections.push(this.#section);
    this.#section = { kind: "blocks", units: [] };
    this.#firstCharacter = "";
    this.#nextCheck = 0;
  }

  #addUnit(source: string, { tokens, links }: Lexed): void {
    if (this.#section.kind === "fence") return;
    const labels = findLabels(source);
    // A definition that was open at the last update is still not complete, and the next update reports only what changes.
    const isOpenLinked = labels.some((label) => this.#openLinks[label]);
    const unit = { source, tokens: isOpenLinked ? this.#lex(source, this.#openLinks).tokens : tokens };
    this.#section.units.push(unit);
    for (const label of labels) {
      const units = this.#references.get(label) ?? [];
      units.push(unit);
      this.#references.set(label, units);
    }
    Object.assign(this.#links, links);
    this.#relink(Object.keys(links));
  }

  #lexOpen(): Token[] {
    const section = this.#section;
    const line = toPlainText(this.#line);
    if (section.kind === "fence") {
      if (this.#line === "" || isFenceEnd(section.opening, line)) return toTokens(section);
      return toTokens({ ...section, openLine: stripFenceIndent(section.opening, line) });
    }
    const source = (section.kind === "table" ? section.head : "") + this.#source + line;
    const { tokens, links } = this.#lex(source);
    const labels = Object.keys({ ...links, ...this.#openLinks });
    const changed = labels.filter((label) => links[label]?.href !== this.#openLinks[label]?.href);
    this.#openLinks = links;
    this.#relink(changed);
    return toTokens({ ...section, units: [...section.units, { source, tokens }] });
  }

  #relink(labels: readonly string[]): void {
    for (const unit of new Set(labels.flatMap((label) => this.#references.get(label) ?? []))) {
      unit.tokens = this.#lex(unit.source, this.#openLinks).tokens;
      this.#isReset = true;
    }
  }

  #lex(source: string, more?: Links): Lexed {
    if (isPlainLine(source)) return { tokens: toPlainTokens(source), links: {} };
    this.lexedCharacters += source.length;
    const lexer = createLexer(source);
    for (const label of findLabels(source)) {
      const link = this.#links[label] ?? more?.[label];
      if (link) lexer.tokens.links[label] = link;
    }
    const tokens = [...lexer.lex(source)];
    const links: Links = Object.create(null);
    for (const [label, link] of Object.entries(lexer.tokens.links)) if (!this.#links[label]) links[label] = link;
    return { tokens, links };
  }

  /** Without what is inside paragraphs. */
  #lexBlocks(source: string): Token[] {
    this.lexedCharacters += source.length;
    return createLexer(source).blockTokens(source);
  }
}

function toTokens(section: Section): Token[] {
  switch (section.kind) {
    case "blocks":
      return section.units.flatMap(({ tokens }) => tokens);
    case "fence": {
      const { lang, lines, openLine } = section;
      return [{ type: "code", raw: "", text: "", lang, lines, openLine }];
    }
    case "list": {
      const lists = section.units.map(({ tokens }) => tokens[0] as Tokens.List);
      const first = lists[0] as Tokens.List;
      const rest = section.units.at(-1)?.tokens.slice(1) ?? [];
      const isLoose =
        lists.some(({ loose }) => loose) || section.units.slice(0, -1).some(({ source }) => endsBlank(source));
      return [{ ...first, items: lists.flatMap(({ items }) => items), loose: isLoose }, ...rest];
    }
    case "table": {
      const tables = section.units.map(({ tokens }) => tokens[0] as Tokens.Table);
      const rest = section.units.at(-1)?.tokens.slice(1) ?? [];
      return [{ ...(tables[0] as Tokens.Table), rows: tables.flatMap(({ rows }) => rows) }, ...rest];
    }
  }
}

/** Everything in brackets, as the lexer writes labels of links. */
const findLabels = (source: string): string[] =>
  source.includes("[")
    ? Array.from(source.matchAll(/\[((?:\\.|[^[\]\\])+)\]/g), ([, label = ""]) =>
        label.toLowerCase().replaceAll(/\s+/g, " "),
      )
    : [];

const isListStart = (line: string): boolean => listStart.test(line) && !thematicBreak.test(line);

const endsBlank = (source: string) => /\n[ \t]*\n$/.test(source);

function isFenceEnd(opening: string, line: string): boolean {
  const fence = fenceStart.exec(opening)?.[2] as string;
  const end = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return end !== undefined && end.startsWith(fence);
}

function stripFenceIndent(opening: string, line: string): string {
  const indent = fenceStart.exec(opening)?.[1]?.length ?? 0;
  const own = /^ */.exec(line)?.[0].length ?? 0;
  return line.slice(Math.min(indent, own));
}

function getIndent(line: string): number {
  const blanks = /^[ \t]*/.exec(line)?.[0] ?? "";
  return blanks.replaceAll("\t", "    ").length;
}

/** An item that has no other line than its first. */
function toOpenItem(line: string): OpenItem {
  const [, marker = "", bullet, blanks = "", text = ""] = /^( {0,3}(?:\d{1,9})?([-+*.)]))([ \t]*)(.?)/.exec(line) ?? [];
  const width = blanks.replaceAll("\t", "    ").length;
  // What is further away is code, one column after the marker.
  const gap = text === "" || width > 4 ? " " : blanks;
  return {
    start: `${marker}${gap}x`,
    bullet,
    contentIndent: marker.length + (gap === blanks ? width : 1),
    hasText: text !== "",
    lastLine: undefined,
  };
}

const isEmptyItem = ({ hasText, lastLine }: OpenItem): boolean => !hasText && lastLine === undefined;
