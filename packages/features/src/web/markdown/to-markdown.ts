/** HTML as Markdown: the main text of a page, with tables, code and absolute links. Linear in the page. */
import { chooseText, type Region } from "./choose-text.ts";
import { classifyClass, type ClassMeaning } from "./classify-class.ts";
import { Frame, joinBlocks, type SavedPrefix } from "./frame.ts";
import { type Attributes, readElements } from "./open-elements.ts";
import { LinkBase } from "./links.ts";
import { parseSpan, Table } from "./table.ts";
import { getTag, surroundingRoles, type Tag } from "./tags.ts";

interface PageText {
  readonly title: string;
  readonly description: string;
  readonly markdown: string;
  /** How many characters of text the page has, also around its main text. */
  readonly textLength: number;
  /** Whether the page has scripts, which may bring its text. */
  readonly hasScripts: boolean;
  /** The address of the same page as Markdown, if it names one. */
  readonly markdownUrl: string | undefined;
}

/** Tables inside of tables, from which on they are plain blocks. */
const maxTables = 4;

/** Says what has to be done when an element ends. */
interface OpenState {
  readonly isBlock: boolean;
  readonly isSkipped?: boolean;
  readonly inline?: ReturnType<Frame["beginInline"]> | undefined;
  readonly mark?: string;
  readonly saved?: SavedPrefix;
  readonly region?: { kind: Region["kind"] | "surrounding"; start: number; frame: Frame } | undefined;
  readonly code?: { language: string | undefined } | undefined;
  readonly list?: boolean;
  readonly cell?: { columns: number; rows: number };
  readonly table?: Table;
  readonly quote?: string;
}

interface List {
  readonly isOrdered: boolean;
  readonly isNested: boolean;
  next: number;
  items: number;
}

const plain: OpenState = { isBlock: false };
const plainBlock: OpenState = { isBlock: true };
const title: OpenState = { isBlock: false };
const plainCell: OpenState = { isBlock: true, cell: { columns: 1, rows: 1 } };
const lineOfCode: OpenState = { isBlock: false };
const skipped: OpenState = { isBlock: false, isSkipped: true };

const hiddenStyle = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;
const maxTitle = 500;

export const htmlToMarkdown = (html: string, baseUrl: string): PageText => new Conversion(baseUrl).run(html);

class Conversion {
  readonly #links: LinkBase;
  readonly #page = new Frame();
  /** The page and the cells that are open. */
  readonly #frames: Frame[] = [this.#page];
  /** Frames of cells that ended: a page may have many cells. */
  readonly #free: Frame[] = [];
  #frame = this.#page;
  readonly #tables: Table[] = [];
  readonly #lists: List[] = [];
  /** How many elements of a mark are open: only the outermost one is written. */
  readonly #marks = new Map<string, number>();
  readonly #facts = { title: "", heading: "", description: "", markdownUrl: undefined as string | undefined };
  #skipDepth = 0;
  #titleDepth = 0;
  #mainDepth = 0;
  #headingDepth = 0;
  #quoteDepth = 0;
  /** The language that an element around a block of code names. */
  #language: string | undefined;
  #hasScripts = false;

  constructor(baseUrl: string) {
    this.#links = new LinkBase(baseUrl);
  }

  run(html: string): PageText {
    readElements<OpenState>(html, {
      open: (tag, attributes) => this.#open(tag, attributes),
      close: (tag, state) => this.#close(tag, state),
      text: (text) => this.#text(text),
    });
    const { blocks, regions, surroundings } = this.#page.take();
    const lengths = blocks.map(({ length }) => length);
    const chosen = chooseText({ lengths, regions, surroundings });
    let textLength = 0;
    for (const length of lengths) textLength += length;
    return {
      title: toLine(this.#facts.title) || toLine(this.#facts.heading),
      description: toLine(this.#facts.description),
      // Marks where a word may be broken, and other characters without a width.
      markdown: joinBlocks(chosen.map((index) => blocks[index]!)).replaceAll(/[\u00ad\u200b\u2060\ufeff]/g, ""),
      textLength,
      hasScripts: this.#hasScripts,
      markdownUrl: this.#facts.markdownUrl,
    };
  }

  #text(text: string): void {
    if (this.#titleDepth > 0) {
      if (this.#facts.title.length < maxTitle) this.#facts.title += text;
    } else if (this.#skipDepth === 0) this.#frame.text(text);
  }

  #open(tag: Tag, attributes: Attributes): OpenState {
    const { name, isBlock } = tag;
    if (name === "script") this.#hasScripts = true;
    if (this.#skipDepth > 0) return plain;
    if (name === "title") {
      this.#titleDepth++;
      return title;
    }
    if (name === "meta" || name === "link" || name === "base") {
      this.#readFact(name, attributes);
      return plain;
    }
    const meaning = classifyClass(attributes["class"] ?? "", attributes["id"] ?? "");
    if (tag.isSkipped || isHidden(attributes) || (meaning.isSkipped && name !== "body") || isAnchor(tag, attributes)) {
      if (!tag.isVoid) this.#skipDepth++;
      return skipped;
    }
    if (this.#frame.isInCode) return this.#openInCode(tag, meaning.language, attributes);
    if (!isBlock) return this.#openInline(tag, attributes, false);
    if (meaning.language !== undefined && name !== "pre") this.#language = meaning.language;
    this.#frame.endBlock();
    const region = this.#openRegion(tag, attributes, meaning);
    const state = this.#openBlock(tag, attributes, meaning.language);
    return region ? { ...state, region } : state;
  }

  #openInCode({ name, isBlock }: Tag, language: string | undefined, attributes: Attributes): OpenState {
    if (name === "br") this.#frame.lineBreak();
    else if (isBlock) this.#frame.breakCode();
    this.#language ??= language ?? attributes["data-lang"] ?? attributes["data-language"];
    return isBlock ? lineOfCode : plain;
  }

  #readFact(name: string, attributes: Attributes): void {
    const { href = "", content = "", rel = "", type = "" } = attributes;
    if (name === "base") this.#links.setBase(href);
    else if (name === "link" && rel.includes("alternate") && type === "text/markdown")
      this.#facts.markdownUrl ??= this.#links.resolve(href);
    else if (name === "meta") {
      const key = attributes["name"] ?? attributes["property"];
      if (key === "description" || key === "og:description") this.#facts.description ||= content;
      else if (key === "og:title") this.#facts.heading ||= content;
    }
  }

  #openRegion(tag: Tag, attributes: Attributes, meaning: ClassMeaning): OpenState["region"] {
    const { name } = tag;
    const role = attributes["role"] ?? "";
    const region = (kind: Region["kind"] | "surrounding") => ({
      kind,
      start: this.#frame.blockCount,
      frame: this.#frame,
    });
    if (name === "main" || role === "main") {
      this.#mainDepth++;
      return region("main");
    }
    if (name === "article") {
      this.#mainDepth++;
      return region("article");
    }
    if (name === "body" || name === "html") return undefined;
    // Headers and notes inside of an article belong to it.
    const isTag =
      tag.isSurrounding && (name === "nav" || (name === "footer" ? this.#quoteDepth === 0 : this.#mainDepth === 0));
    if (
      isTag ||
      surroundingRoles.has(role) ||
      (meaning.isSurrounding && !tag.isTablePart && tag.heading === 0 && name !== "pre")
    )
      return region("surrounding");
    return meaning.isContent ? region("content") : undefined;
  }

  #openBlock({ name, heading }: Tag, attributes: Attributes, language: string | undefined): OpenState {
    const frame = this.#frame;
    if (heading > 0) {
      this.#headingDepth++;
      frame.hasStructure = true;
      return { isBlock: true, saved: frame.beginHeading(heading) };
    }
    switch (name) {
      case "blockquote":
        this.#quoteDepth++;
        return { isBlock: true, saved: frame.beginContainer("> ", false) };
      case "pre":
        frame.beginCode(true);
        return {
          isBlock: true,
          code: { language: language ?? attributes["data-lang"] ?? attributes["data-language"] },
        };
      case "ul":
      case "ol":
      case "menu":
      case "dir":
        this.#lists.push({
          isOrdered: name === "ol",
          isNested: this.#lists.length > 0,
          next: Number.parseInt(attributes["start"] ?? "1", 10) || 1,
          items: 0,
        });
        return { isBlock: true, list: true };
      case "li":
        return { isBlock: true, saved: this.#openItem() };
      case "dd":
        return { isBlock: true, saved: frame.beginContainer(": ", true) };
      case "summary":
      case "dt":
        return this.#openInline(bold, attributes, true);
      case "hr":
        frame.addBlock("---", 0);
        return plain;
      case "table":
        return this.#openTable(attributes);
      case "tr":
        if (this.#isInTable) this.#tables.at(-1)!.beginRow();
        return plainBlock;
      case "td":
      case "th":
        return this.#openCell(attributes);
      default:
        return plainBlock;
    }
  }

  #openItem(): SavedPrefix {
    const list = this.#lists.at(-1);
    if (!list) return this.#frame.beginContainer("- ", false);
    const isTight = list.isNested || list.items > 0;
    list.items++;
    return this.#frame.beginContainer(list.isOrdered ? `${list.next++}. ` : "- ", isTight);
  }

  /** Whether the innermost table is that of the current frame. */
  get #isInTable(): boolean {
    return this.#tables.length > 0 && this.#tables.length === this.#frames.length;
  }

  #openTable(attributes: Attributes): OpenState {
    const outer = this.#tables.at(-1);
    if (outer) outer.isLayout = true;
    // Only directly in the page or in a cell.
    if (this.#tables.length >= maxTables || this.#tables.length >= this.#frames.length) return plainBlock;
    const table = new Table(attributes["role"] ?? "");
    this.#tables.push(table);
    return { isBlock: true, table };
  }

  #openCell({ colspan, rowspan }: Attributes): OpenState {
    if (!this.#isInTable) return plainBlock;
    this.#frame = this.#free.pop() ?? new Frame();
    this.#frames.push(this.#frame);
    if (colspan === undefined && rowspan === undefined) return plainCell;
    return { isBlock: true, cell: { columns: parseSpan(colspan), rows: parseSpan(rowspan) } };
  }

  #openInline({ name, mark, isCode }: Tag, attributes: Attributes, isBlock: boolean): OpenState {
    const frame = this.#frame;
    if (mark !== undefined) {
      const open = this.#marks.get(mark) ?? 0;
      this.#marks.set(mark, open + 1);
      const isWritten = open === 0 && !(mark === "**" && this.#headingDepth > 0);
      return { isBlock, mark, inline: isWritten ? frame.beginInline(mark, mark) : undefined };
    }
    if (isCode) {
      frame.beginCode(false);
      return { isBlock, code: { language: undefined } };
    }
    switch (name) {
      case "a": {
        const url = this.#links.resolve(attributes["href"] ?? "");
        return url === undefined ? plain : { isBlock, inline: frame.beginInline("[", `](${url})`) };
      }
      case "br":
        frame.lineBreak();
        return plain;
      case "img":
        this.#writeImage(attributes);
        return plain;
      case "input":
        if (attributes["type"] === "checkbox") {
          frame.raw(attributes["checked"] === undefined ? "[ ]" : "[x]");
          frame.text(" ");
        }
        return plain;
      case "math":
        if (attributes["alttext"]) frame.text(attributes["alttext"]);
        this.#skipDepth++;
        return skipped;
      case "q":
        frame.text("“");
        return { isBlock, quote: "”" };
      default:
        return plain;
    }
  }

  #writeImage({ alt = "", src = "" }: Attributes): void {
    const text = toLine(alt);
    if (text === "") return;
    const url = this.#links.resolve(src);
    this.#frame.raw(url === undefined ? text : `![${text.replaceAll(/[[\]]/g, "")}](${url})`);
  }

  #close(tag: Tag, state: OpenState): void {
    if (state === plain) return;
    if (state === title) {
      this.#titleDepth--;
      return;
    }
    if (state.isSkipped) {
      this.#skipDepth--;
      return;
    }
    const frame = this.#frame;
    if (state.quote !== undefined) frame.text(state.quote);
    if (state.code) {
      frame.endCode(state.code.language ?? this.#language);
      if (tag.name === "pre") this.#language = undefined;
    }
    if (state.inline) frame.endInline(state.inline);
    if (state.mark !== undefined) this.#marks.set(state.mark, this.#marks.get(state.mark)! - 1);
    if (!state.isBlock) {
      frame.breakCode();
      return;
    }
    this.#closeBlock(tag, state);
    if (state.region) this.#closeRegion(state.region);
  }

  #closeBlock({ name, heading }: Tag, state: OpenState): void {
    const frame = this.#frame;
    frame.endBlock();
    if (state.saved) {
      if (heading > 0) {
        this.#headingDepth--;
        frame.endHeading(state.saved);
      } else frame.endContainer(state.saved);
      if (name === "blockquote") this.#quoteDepth--;
    }
    if (state.list) this.#lists.pop();
    if (state.cell) {
      const { columns, rows } = state.cell;
      this.#tables.at(-1)!.addCell({ content: frame.take(), columns, rows });
      this.#free.push(frame);
      this.#frames.pop();
      this.#frame = this.#frames.at(-1)!;
    }
    if (state.table) {
      this.#tables.pop();
      state.table.writeTo(frame);
    }
  }

  #closeRegion({ kind, start, frame }: NonNullable<OpenState["region"]>): void {
    const range = { start, end: frame.blockCount };
    if (kind === "main" || kind === "article") this.#mainDepth--;
    if (range.end === range.start) return;
    if (kind === "surrounding") frame.addSurrounding(range);
    else frame.addRegion({ kind, ...range });
  }
}

const isHidden = (attributes: Attributes): boolean =>
  attributes["hidden"] !== undefined ||
  attributes["aria-hidden"] === "true" ||
  (attributes["style"] !== undefined && hiddenStyle.test(attributes["style"]));

/** Whether it is a link from a heading to itself, which has a sign as its text. */
const isAnchor = ({ name }: Tag, { href = "", class: className = "" }: Attributes): boolean =>
  name === "a" && href.startsWith("#") && /(?:^|\s)anchor(?:\s|$)/.test(className);

const bold = getTag("b");

const toLine = (text: string): string => text.slice(0, maxTitle).replaceAll(/\s+/g, " ").trim();
