/**
 * Markdown inside a block, as HTML: code, emphasis, links. Everything else is text and escaped. One walk over the text, in
 * time linear in its length; tags are only ever written in pairs.
 */
import { bareLinkAt, bracketPairs, codeSpans, isPunctuation, isSafeUrl, targetAt } from "./inline-parts.ts";
import { escapeHtml } from "./text.ts";

/** `text` is clean. */
export function inlineHtml(text: string): string {
  const writer = new InlineWriter();
  const spans = codeSpans(text);
  const brackets = bracketPairs(text, spans);
  /** The link that we are in: where its text ends, and where the text after it begins. */
  let link: { end: number; resume: number } | undefined;
  let written = 0;
  let at = 0;
  const writeUpTo = (end: number, resume: number) => {
    writer.text(text.slice(written, end));
    at = written = resume;
  };

  while (at < text.length) {
    const character = text[at]!;
    const span = spans.get(at);
    if (at === link?.end) {
      writeUpTo(at, link.resume);
      writer.closeLink();
      link = undefined;
    } else if (span) {
      writeUpTo(at, span.end);
      writer.html(`<code>${escapeHtml(span.content)}</code>`);
    } else if (character === "`") {
      // A run without an end: all of it is text.
      while (text[at] === "`") at++;
    } else if (character === "\\" && isPunctuation(text[at + 1])) {
      const escaped = text[at + 1]!;
      writeUpTo(at, at + 2);
      writer.text(escaped);
    } else if (character === "\n") {
      writeUpTo(at, at + 1);
      writer.html("<br>\n");
    } else if (character === "*" || character === "_" || character === "~") {
      let end = at + 1;
      while (text[end] === character) end++;
      const run = { character, count: end - at, before: text[at - 1], after: text[end] };
      writeUpTo(at, end);
      writer.delimiter(run);
    } else if (character === "[" && !link) {
      const end = brackets.get(at);
      const target = end === undefined ? undefined : targetAt(text, end + 1);
      if (end === undefined || !target) at++;
      else {
        // A picture from elsewhere would tell its server who reads: it is a link like any other.
        writeUpTo(text[at - 1] === "!" ? at - 1 : at, at + 1);
        writer.openLink(target.url);
        link = { end, resume: target.end };
      }
    } else if ((character === "h" || character === "H" || character === "<") && !link) {
      const found = bareLinkAt(text, at);
      if (!found) at++;
      else {
        writeUpTo(at, found.end);
        writer.openLink(found.url);
        writer.text(found.url);
        writer.closeLink();
      }
    } else at++;
  }
  writeUpTo(at, at);
  return writer.end();
}

/** A run of characters that may open or close emphasis, and what stands around it. */
interface DelimiterRun {
  character: string;
  count: number;
  before: string | undefined;
  after: string | undefined;
}

/** The same, with the tags that it has become. */
interface Delimiter {
  character: string;
  /** How many characters are still text. */
  left: number;
  opening: string;
  closing: string;
}

/** More open runs than this at once are no emphasis; it bounds both the search for a partner and the depth of tags. */
const maxOpen = 16;
/** Longer runs are lines that somebody drew. */
const maxRunLength = 3;

/** Runs of `*`, `_` or `~` become tags in pairs; what finds no partner is text again. */
class InlineWriter {
  readonly #parts: (string | Delimiter)[] = [];
  /** The innermost last. */
  #open: Delimiter[] = [];
  #openOutside: Delimiter[] = [];
  #linkEnd = "";

  html(html: string): void {
    this.#parts.push(html);
  }

  text(text: string): void {
    if (text) this.html(escapeHtml(text));
  }

  /** Emphasis inside a link ends inside it, and none reaches in from outside. */
  openLink(url: string): void {
    this.#openOutside = this.#open;
    this.#open = [];
    const isSafe = isSafeUrl(url);
    this.html(isSafe ? `<a href="${escapeHtml(url)}" rel="noopener noreferrer" target="_blank">` : "<span>");
    this.#linkEnd = isSafe ? "</a>" : `</span> <span class="url">(${escapeHtml(url)})</span>`;
  }

  closeLink(): void {
    this.html(this.#linkEnd);
    this.#open = this.#openOutside;
  }

  delimiter({ character, count, before, after }: DelimiterRun): void {
    const run: Delimiter = { character, left: count, opening: "", closing: "" };
    this.#parts.push(run);
    if (character === "~" ? count !== 2 : count > maxRunLength) return;
    // An underscore inside a word belongs to the word.
    const isName = character === "_";
    if (!isSpace(before) && !(isName && isLetter(after))) this.#close(run);
    if (run.left === 0 || isSpace(after) || (isName && isLetter(before))) return;
    this.#open.push(run);
    if (this.#open.length > maxOpen) this.#open.shift();
  }

  #close(run: Delimiter): void {
    while (run.left > 0) {
      const from = this.#open.findLastIndex(({ character }) => character === run.character);
      const opener = this.#open[from];
      if (!opener) return;
      const used = Math.min(2, opener.left, run.left);
      const tag = run.character === "~" ? "del" : used === 2 ? "strong" : "em";
      opener.left -= used;
      run.left -= used;
      opener.opening = `<${tag}>${opener.opening}`;
      run.closing += `</${tag}>`;
      // Whatever was opened in between was never closed.
      this.#open.length = opener.left > 0 ? from + 1 : from;
    }
  }

  end(): string {
    const toHtml = ({ closing, character, left, opening }: Delimiter) => closing + character.repeat(left) + opening;
    return this.#parts.map((part) => (typeof part === "string" ? part : toHtml(part))).join("");
  }
}

const isSpace = (character: string | undefined) => character === undefined || /\s/.test(character);
const isLetter = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
