/** Elements of HTML, by what they mean for a text. */

export interface Tag {
  readonly name: string;
  /** Numbers tags from 0. */
  readonly id: number;
  /** An element without an end. */
  readonly isVoid: boolean;
  /** Its content is no text of the page. */
  readonly isSkipped: boolean;
  /** It begins and ends a block. */
  readonly isBlock: boolean;
  /** It is a part of a table, whose end ends cells too. */
  readonly isTablePart: boolean;
  /** It ends an open paragraph when it begins. */
  readonly endsParagraph: boolean;
  /** It is around the text of a page, such as a menu. */
  readonly isSurrounding: boolean;
  /** Its text is written as code. */
  readonly isCode: boolean;
  /** The mark of Markdown around its text. */
  readonly mark: string | undefined;
  /** The level of a heading, or 0. */
  readonly heading: number;
  /** The kind of scope that it begins: end tags in it do not end elements outside of it. */
  readonly scope: "list" | "table" | "cell" | undefined;
}

const names = {
  isVoid: "area base br col embed hr img input link meta param source track wbr",
  isSkipped:
    "applet audio button canvas datalist dialog embed iframe map noembed noframes noscript object rp rt script select style svg template textarea video",
  isBlock:
    "address article aside blockquote body caption center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre section summary table tbody td tfoot th thead tr ul",
  isTablePart: "caption table tbody td tfoot th thead tr",
  endsParagraph:
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre section table ul",
  isSurrounding: "nav footer aside header",
  isCode: "code kbd samp tt",
  others: "a base b del em i math q s span strike strong title",
} as const;

const marks: Readonly<Record<string, string>> = {
  b: "**",
  strong: "**",
  em: "_",
  i: "_",
  del: "~~",
  s: "~~",
  strike: "~~",
};

const scopes: Readonly<Record<string, Tag["scope"]>> = {
  ul: "list",
  ol: "list",
  dl: "list",
  menu: "list",
  dir: "list",
  table: "table",
  td: "cell",
  th: "cell",
  caption: "cell",
};

const lists = new Map(Object.entries(names).map(([key, text]) => [key, new Set(text.split(" "))]));

const createTag = (name: string, id: number): Tag => ({
  name,
  id,
  isVoid: lists.get("isVoid")!.has(name),
  isSkipped: lists.get("isSkipped")!.has(name),
  isBlock: lists.get("isBlock")!.has(name),
  isTablePart: lists.get("isTablePart")!.has(name),
  endsParagraph: lists.get("endsParagraph")!.has(name),
  isSurrounding: lists.get("isSurrounding")!.has(name),
  isCode: lists.get("isCode")!.has(name),
  mark: Object.hasOwn(marks, name) ? marks[name] : undefined,
  heading: /^h[1-6]$/.test(name) ? Number(name[1]) : 0,
  scope: Object.hasOwn(scopes, name) ? scopes[name] : undefined,
});

/** All that is known of a tag comes from one look at its name: a page has many. */
const known = new Map<string, Tag>(
  [...new Set([...lists.values()].flatMap((list) => [...list]))].map((name, id) => [name, createTag(name, id)]),
);

/** Returns a known tag; throws for another one. */
export const getTag = (name: string): Tag => known.get(name)!;

/** The tags of one page: those that are known, and its own. */
export class PageTags {
  readonly #own = new Map<string, Tag>();

  find(name: string): Tag {
    const tag = known.get(name) ?? this.#own.get(name);
    if (tag) return tag;
    const lower = name.toLowerCase();
    if (lower !== name) return this.find(lower);
    const created = createTag(name, known.size + this.#own.size);
    this.#own.set(name, created);
    return created;
  }
}

/** Roles of elements around the text of a page. */
export const surroundingRoles: ReadonlySet<string> = new Set([
  "alertdialog",
  "banner",
  "complementary",
  "contentinfo",
  "dialog",
  "menu",
  "menubar",
  "navigation",
  "search",
]);

export const readAttributes: ReadonlySet<string> = new Set(
  "alt alttext aria-hidden checked class colspan content data-lang data-language hidden href id name property rel role rowspan src start style type".split(
    " ",
  ),
);
