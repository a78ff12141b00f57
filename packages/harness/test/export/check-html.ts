/** A reader of HTML that knows only what exports may write, and says what else there is. For tests. */
import { createHash } from "node:crypto";

export interface CheckedHtml {
  /** What is wrong; empty for a page that is right. */
  faults: string[];
  /** All that a person can read, titles too, entities decoded. */
  text: string;
  tags: string[];
  links: string[];
  /** The contents of `script` and `style`. */
  raw: { tag: string; text: string }[];
}

const attributes: Readonly<Record<string, RegExp>> = {
  "aria-current": /^true$/,
  "aria-label": /^Tree of the session$/,
  alt: /^picture$/,
  charset: /^utf-8$/,
  class: /^[a-z0-9]+(?: [a-z0-9]+)*$/,
  content: /^[^<>]*$/,
  "data-parent": /^(?:-1|\d+)$/,
  for: /^all$/,
  hidden: /^$/,
  href: /^(?:#e\d+|https?:\/\/\S+|mailto:\S+)$/i,
  "http-equiv": /^Content-Security-Policy$/,
  id: /^(?:e\d+|all|theme)$/,
  lang: /^en$/,
  name: /^(?:referrer|viewport)$/,
  rel: /^noopener noreferrer$/,
  src: /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/,
  start: /^\d+$/,
  target: /^_blank$/,
  title: /./,
  type: /^(?:button|checkbox)$/,
};

const empty = new Set(["br", "hr", "img", "input", "meta"]);
const inline = new Set("a b br code del em input label span strong time button summary".split(" "));
const known = new Set([
  ...inline,
  ...empty,
  ..."article blockquote body dd details div dl dt figcaption figure h1 h3 h4 h5 h6 head header html li main nav ol p pre script style table tbody td th thead title tr ul".split(
    " ",
  ),
]);
/** Browsers close these by themselves when a block begins inside: what is inside would not be where we put it. */
const inlineOnly = new Set("p h1 h3 h4 h5 h6 a b code del em span strong summary pre title".split(" "));

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const decoded = (text: string) => text.replace(/&(#?\w+);/g, (all, name: string) => entities[name] ?? all);

export function checkHtml(html: string): CheckedHtml {
  const checked: CheckedHtml = { faults: [], text: "", tags: [], links: [], raw: [] };
  const fault = (text: string, at: number) =>
    checked.faults.push(`${text}: ${JSON.stringify(html.slice(at, at + 60))}`);
  const open: string[] = [];
  const texts: string[] = [];
  const tag = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/y;
  if (!html.isWellFormed()) fault("half a character", 0);
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(html)) fault("control character", 0);
  if (/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u.test(html)) fault("turned direction", 0);

  for (let at = html.startsWith("<!doctype html>") ? 15 : 0; at < html.length;) {
    const next = html.indexOf("<", at);
    const end = next < 0 ? html.length : next;
    const text = html.slice(at, end);
    if (/>|"|'|&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) fault("unescaped text", at);
    texts.push(decoded(text));
    at = end;
    if (at === html.length) break;
    tag.lastIndex = at;
    const [all, slash, name = "", rest = ""] = tag.exec(html) ?? [];
    if (all === undefined || !known.has(name)) {
      fault("no tag of ours", at);
      at++;
      continue;
    }
    if (slash) {
      if (open.pop() !== name || rest) fault("closed what was not open", at);
      at += all.length;
      continue;
    }
    checked.tags.push(name);
    const parent = open.at(-1) ?? "";
    if (inlineOnly.has(parent) && !inline.has(name) && !(parent === "pre" && name === "code"))
      fault(`block in ${parent}`, at);
    if (name === "a" && open.includes("a")) fault("link in a link", at);
    for (const [, key = "", value = ""] of rest.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)) {
      if (!attributes[key]?.test(decoded(value))) fault(`attribute ${key}`, at);
      if (key === "href") checked.links.push(decoded(value));
      if (key === "title") texts.push(decoded(value));
    }
    at += all.length;
    if (name === "script" || name === "style") {
      const close = html.indexOf("</", at);
      checked.raw.push({ tag: name, text: html.slice(at, close) });
      at = close;
    }
    if (!empty.has(name)) open.push(name);
  }
  if (open.length > 0) fault(`never closed: ${open.join(" ")}`, html.length);
  return { ...checked, text: texts.join("") };
}

/** A whole page: its markup, and that its policy allows exactly the script and the style that it has. */
export function checkPage(html: string): CheckedHtml {
  const checked = checkHtml(html);
  const policy = decoded(/http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "");
  const hashes = checked.raw.map(({ tag, text }) => {
    const hash = createHash("sha256").update(text).digest("base64");
    return `${tag}-src 'sha256-${hash}'`;
  });
  const expected = ["default-src 'none'", "img-src data:", ...hashes, "base-uri 'none'", "form-action 'none'"];
  if (policy !== expected.join("; ")) checked.faults.push(`policy: ${policy}`);
  if (checked.raw.map(({ tag }) => tag).join() !== "style,script") checked.faults.push("not one style and one script");
  return checked;
}
