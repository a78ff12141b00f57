/** Parses exported HTML strictly, and reports everything that an export may not write. For tests. */
import { createHash } from "node:crypto";

export interface CheckedHtml {
  /** Empty for correct HTML. */
  faults: string[];
  /** All text and titles, with entities decoded. */
  text: string;
  tags: string[];
  links: string[];
  /** The contents of `script` and `style`. */
  raw: { tag: string; text: string }[];
}

const attributes: Readonly<Record<string, RegExp>> = {
  "aria-current": /^true$/,
  "aria-label": /^(?:Session tree|Search in all entries|Entries)$/,
  alt: /^image$/,
  charset: /^utf-8$/,
  class: /^[a-z0-9]+(?: [a-z0-9]+)*$/,
  content: /^[^<>]*$/,
  "data-parent": /^(?:-1|\d+)$/,
  for: /^all$/,
  hidden: /^$/,
  href: /^(?:#e\d+|https?:\/\/\S+|mailto:\S+)$/i,
  "http-equiv": /^Content-Security-Policy$/,
  id: /^(?:e\d+|all|theme|find|search|kinds|found)$/,
  lang: /^en$/,
  name: /^(?:referrer|viewport)$/,
  placeholder: /^Search$/,
  rel: /^noopener noreferrer$/,
  role: /^status$/,
  src: /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/,
  start: /^\d+$/,
  target: /^_blank$/,
  title: /./,
  type: /^(?:button|checkbox|search)$/,
  value: /^[a-z:.(),]*$/,
};

const emptyTags = new Set(["br", "hr", "img", "input", "meta"]);
const inlineTags = new Set("a b br code del em i input label option select span strong time button summary".split(" "));
const knownTags = new Set([
  ...inlineTags,
  ...emptyTags,
  ..."article blockquote body dd details div dl dt figcaption figure h1 h3 h4 h5 h6 head header html li main nav ol p pre script section style table tbody td th thead title tr ul".split(
    " ",
  ),
]);
/** Browsers close these when a block begins inside, so they may hold only inline tags. */
const inlineParents = new Set("p h1 h3 h4 h5 h6 a b code del em i span strong summary pre title".split(" "));

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const decode = (text: string) => text.replace(/&(#?\w+);/g, (all, name: string) => entities[name] ?? all);

export function checkHtml(html: string): CheckedHtml {
  const checked: CheckedHtml = { faults: [], text: "", tags: [], links: [], raw: [] };
  const report = (text: string, index: number) =>
    checked.faults.push(`${text}: ${JSON.stringify(html.slice(index, index + 60))}`);
  const openTags: string[] = [];
  const texts: string[] = [];
  const tagPattern = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/y;
  if (!html.isWellFormed()) report("half a surrogate pair", 0);
  // oxlint-disable-next-line no-control-regex -- they are searched for
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(html)) report("control character", 0);
  if (/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u.test(html)) report("direction mark", 0);

  for (let index = html.startsWith("<!doctype html>") ? 15 : 0; index < html.length;) {
    const next = html.indexOf("<", index);
    const end = next < 0 ? html.length : next;
    const text = html.slice(index, end);
    if (/>|"|'|&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) report("unescaped text", index);
    texts.push(decode(text));
    index = end;
    if (index === html.length) break;
    tagPattern.lastIndex = index;
    const [tag, slash, name = "", rest = ""] = tagPattern.exec(html) ?? [];
    if (tag === undefined || !knownTags.has(name)) {
      report("unknown tag", index);
      index++;
      continue;
    }
    if (slash) {
      if (openTags.pop() !== name || rest) report("wrong closing tag", index);
      index += tag.length;
      continue;
    }
    checked.tags.push(name);
    const parent = openTags.at(-1) ?? "";
    if (inlineParents.has(parent) && !inlineTags.has(name) && !(parent === "pre" && name === "code"))
      report(`block in ${parent}`, index);
    if (name === "a" && openTags.includes("a")) report("link in a link", index);
    for (const [, key = "", value = ""] of rest.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)) {
      if (!attributes[key]?.test(decode(value))) report(`attribute ${key}`, index);
      if (key === "href") checked.links.push(decode(value));
      if (key === "title") texts.push(decode(value));
    }
    index += tag.length;
    if (name === "script" || name === "style") {
      const close = html.indexOf("</", index);
      checked.raw.push({ tag: name, text: html.slice(index, close) });
      index = close;
    }
    if (!emptyTags.has(name)) openTags.push(name);
  }
  if (openTags.length > 0) report(`not closed: ${openTags.join(" ")}`, html.length);
  return { ...checked, text: texts.join("") };
}

/** Checks a whole page, and that its policy allows exactly its own script and style. */
export function checkPage(html: string): CheckedHtml {
  const checked = checkHtml(html);
  const policy = decode(/http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "");
  const hashes = checked.raw.map(({ tag, text }) => {
    const hash = createHash("sha256").update(text).digest("base64");
    return `${tag}-src 'sha256-${hash}'`;
  });
  const expected = ["default-src 'none'", "img-src data:", ...hashes, "base-uri 'none'", "form-action 'none'"];
  if (policy !== expected.join("; ")) checked.faults.push(`policy: ${policy}`);
  if (checked.raw.map(({ tag }) => tag).join() !== "style,script") checked.faults.push("not one style and one script");
  return checked;
}
