/**
 * The elements of a page in order, over the tokenizer of htmlparser2. Its parser looks through all open elements for each end tag,
 * which takes seconds for a page that was made for it; here every tag costs the same.
 */
import { Tokenizer } from "htmlparser2";
import { getTag, PageTags, readAttributes, type Tag } from "./tags.ts";

export type Attributes = Readonly<Record<string, string>>;

interface ElementEvents<State> {
  /** Returns what `close` gets for this element. Void elements are only opened. */
  open(tag: Tag, attributes: Attributes): State;
  close(tag: Tag, state: State): void;
  text(text: string): void;
}

interface Scope {
  readonly kind: "page" | NonNullable<Tag["scope"]>;
  /** The element that began it; undefined for the page. */
  readonly tag: Tag | undefined;
  /** The number of elements that were open when it began. */
  readonly start: number;
  /** The number of scopes outside of the cell that it is in, unless a table is between them. */
  readonly cell: number | undefined;
}

interface OpenElement<State> {
  readonly tag: Tag;
  readonly state: State;
  readonly beginsScope: boolean;
}

/** An end tag is looked for in the lists around it, up to this many. */
const maxScopesUp = 8;

const noAttributes: Attributes = {};
const [p, li, dt, dd, a, tr, tbody, thead, tfoot] = ["p", "li", "dt", "dd", "a", "tr", "tbody", "thead", "tfoot"].map(
  getTag,
) as [Tag, Tag, Tag, Tag, Tag, Tag, Tag, Tag, Tag];

/** Reads a page and reports its elements. Elements that are left open are closed where others end them, as browsers do it. */
export function readElements<State>(html: string, events: ElementEvents<State>): void {
  const tags = new PageTags();
  const elements = new OpenElements(events);
  let tag = p;
  let attributes: Record<string, string> | undefined;
  let attribute = "";
  let isRead = false;
  let value = "";
  const open = () => elements.open(tag, attributes ?? noAttributes);
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname: (start, end) => {
        tag = tags.find(html.slice(start, end));
        attributes = undefined;
      },
      onattribname: (start, end) => {
        attribute = html.slice(start, end).toLowerCase();
        isRead = readAttributes.has(attribute);
        value = "";
      },
      onattribdata: (start, end) => {
        if (isRead) value += html.slice(start, end);
      },
      onattribentity: (codePoint) => {
        if (isRead) value += String.fromCodePoint(codePoint);
      },
      onattribend: () => {
        if (!isRead) return;
        attributes ??= {};
        attributes[attribute] ??= value;
      },
      onopentagend: open,
      onselfclosingtag: open,
      onclosetag: (start, end) => elements.close(tags.find(html.slice(start, end))),
      ontext: (start, end) => events.text(html.slice(start, end)),
      ontextentity: (codePoint) => events.text(String.fromCodePoint(codePoint)),
      oncdata: (start, end) => events.text(html.slice(start, end)),
      oncomment: () => undefined,
      ondeclaration: () => undefined,
      onprocessinginstruction: () => undefined,
      onend: () => undefined,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  elements.closeAll();
}

class OpenElements<State> {
  readonly #events: ElementEvents<State>;
  readonly #open: OpenElement<State>[] = [];
  readonly #scopes: Scope[] = [{ kind: "page", tag: undefined, start: 0, cell: undefined }];
  /** For each tag, where it is open, from the outermost element on. */
  readonly #positions: number[][] = [];
  #scope: Scope = this.#scopes[0]!;

  constructor(events: ElementEvents<State>) {
    this.#events = events;
  }

  open(tag: Tag, attributes: Attributes): void {
    this.#closeBefore(tag);
    const state = this.#events.open(tag, attributes);
    if (tag.isVoid) return;
    // Parts of a table are elements like any other outside of one.
    const kind = tag.scope === "cell" && this.#scope.kind !== "table" ? undefined : tag.scope;
    if (kind === undefined) (this.#positions[tag.id] ??= []).push(this.#open.length);
    else {
      this.#scope = { kind, tag, start: this.#open.length, cell: this.#getCell(kind) };
      this.#scopes.push(this.#scope);
    }
    this.#open.push({ tag, state, beginsScope: kind !== undefined });
  }

  close(tag: Tag): void {
    if (tag.isVoid) return;
    if (tag.isTablePart) return this.#closeTablePart(tag);
    if (this.#scope.tag === tag) return this.#popScope();
    if (this.#has(tag)) return this.#popUntil(tag);
    for (let index = this.#scopes.length - 1, up = 0; index > 0 && up < maxScopesUp; index--, up++) {
      if (this.#scopes[index]!.kind !== "list") return;
      const outer = this.#scopes[index - 1]!;
      if (outer.tag !== tag && !this.#isIn(outer, tag)) continue;
      this.#popScopes(index);
      return this.close(tag);
    }
  }

  closeAll(): void {
    while (this.#open.length > 0) this.#pop();
  }

  #getCell(kind: Scope["kind"]): number | undefined {
    if (kind === "cell") return this.#scopes.length;
    return kind === "list" ? this.#scope.cell : undefined;
  }

  #closeBefore(tag: Tag): void {
    if (tag.endsParagraph && this.#has(p)) this.#popUntil(p);
    if (tag === li) {
      if (this.#has(li)) this.#popUntil(li);
    } else if (tag === dt || tag === dd) {
      if (this.#has(dt)) this.#popUntil(dt);
      if (this.#has(dd)) this.#popUntil(dd);
    } else if (tag === a) {
      if (this.#has(a)) this.#popUntil(a);
    } else if (tag.heading > 0) {
      if ((this.#open.at(-1)?.tag.heading ?? 0) > 0) this.#pop();
    } else if (tag.isTablePart && tag.scope !== "table") this.#closeBeforePart(tag);
  }

  #closeBeforePart(tag: Tag): void {
    // What is left open in a cell, such as a list, ends with it.
    const { cell } = this.#scope;
    if (cell !== undefined) this.#popScopes(cell);
    if (this.#scope.kind !== "table" || tag.scope === "cell") return;
    if (this.#has(tr)) this.#popUntil(tr);
    if (tag === tr) return;
    for (const part of [tbody, thead, tfoot]) if (this.#has(part)) this.#popUntil(part);
  }

  #closeTablePart(tag: Tag): void {
    const { cell } = this.#scope;
    const table = cell === undefined ? this.#scope : this.#scopes[cell - 1]!;
    if (table.kind !== "table") {
      if (this.#has(tag)) this.#popUntil(tag);
      return;
    }
    if (tag.scope === undefined && !this.#isIn(table, tag)) return;
    if (cell !== undefined) this.#popScopes(cell);
    if (tag.scope === "table") this.#popScope();
    else if (tag.scope === undefined) this.#popUntil(tag);
  }

  /** Whether such an element is open in the innermost scope. */
  #has(tag: Tag): boolean {
    const positions = this.#positions[tag.id];
    return positions !== undefined && positions.length > 0 && positions[positions.length - 1]! >= this.#scope.start;
  }

  /** Whether such an element is open in a scope or in those inside of it. */
  #isIn({ start }: Scope, tag: Tag): boolean {
    return (this.#positions[tag.id]?.at(-1) ?? -1) >= start;
  }

  /** Closes scopes until this many are left. */
  #popScopes(count: number): void {
    while (this.#scopes.length > count) this.#popScope();
  }

  /** Closes all elements of the innermost scope, and the element that began it. */
  #popScope(): void {
    const { start } = this.#scope;
    while (this.#open.length > start) this.#pop();
  }

  #popUntil(tag: Tag): void {
    while (this.#pop() !== tag);
  }

  #pop(): Tag {
    const { tag, state, beginsScope } = this.#open.pop()!;
    if (beginsScope) {
      this.#scopes.pop();
      this.#scope = this.#scopes.at(-1)!;
    } else this.#positions[tag.id]!.pop();
    this.#events.close(tag, state);
    return tag;
  }
}
