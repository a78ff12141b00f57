/** Where in a text code, brackets and links are. Each is found in one walk, however the text was made. */

export interface CodeSpan {
  content: string;
  /** After its last backtick. */
  end: number;
}

export const isPunctuation = (character: string | undefined): boolean =>
  character !== undefined && /[!-/:-@[-`{-~]/.test(character);

/** By where they begin. A run of backticks goes up to the next run of the same length. */
export function codeSpans(text: string): Map<number, CodeSpan> {
  const spans = new Map<number, CodeSpan>();
  const runs = runsByLength(text);
  for (let at = 0; at < text.length;) {
    if (text[at] === "\\" && isPunctuation(text[at + 1])) at += 2;
    else if (text[at] !== "`") at++;
    else {
      let start = at;
      while (text[start] === "`") start++;
      const length = start - at;
      const close = runs.get(length)?.next(start);
      if (close === undefined) at = start;
      else {
        spans.set(at, { content: codeText(text.slice(start, close)), end: close + length });
        at = close + length;
      }
    }
  }
  return spans;
}

/** One space at each side is for content that begins or ends with a backtick. */
function codeText(content: string): string {
  const line = content.replace(/\n/g, " ");
  const isPadded = line.startsWith(" ") && line.endsWith(" ") && line.trim() !== "";
  return isPadded ? line.slice(1, -1) : line;
}

/** Positions in ascending order, asked for in ascending order. */
class Ascending {
  readonly #positions: number[] = [];
  #at = 0;

  add(position: number): void {
    this.#positions.push(position);
  }

  /** The first that is not before `from`. */
  next(from: number): number | undefined {
    while (this.#positions[this.#at]! < from) this.#at++;
    return this.#positions[this.#at];
  }
}

function runsByLength(text: string): Map<number, Ascending> {
  const runs = new Map<number, Ascending>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = runs.get(run.length) ?? new Ascending();
    runs.set(run.length, known);
    known.add(index);
  }
  return runs;
}

/** From each `[` to its `]`. Brackets in code and escaped ones are text. */
export function bracketPairs(text: string, spans: ReadonlyMap<number, CodeSpan>): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length;) {
    const span = spans.get(at);
    if (span) at = span.end;
    else if (text[at] === "\\" && isPunctuation(text[at + 1])) at += 2;
    else {
      if (text[at] === "[") open.push(at);
      const start = text[at] === "]" ? open.pop() : undefined;
      if (start !== undefined) pairs.set(start, at);
      at++;
    }
  }
  return pairs;
}

/** Only what opens a page or a letter. Nothing that runs, nothing that carries its own content. */
export const isSafeUrl = (url: string): boolean => /^(?:https?:\/\/|mailto:)[^\s<>"]+$/i.test(url);

export interface LinkTarget {
  url: string;
  /** After it. */
  end: number;
}

// All counts are bounded, so that a text of half links costs no more than its length.
const target =
  /\([ \n]{0,8}(?:<([^<>\n]{0,2048})>|([^\s()<>`]{1,2048}(?:\([^\s()<>`]{0,256}\)[^\s()<>`]{0,256}){0,8}))(?:[ \n]{1,8}(?:"[^"\n]{0,512}"|'[^'\n]{0,512}'))?[ \n]{0,8}\)/y;
const angled = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2048})>/iy;
const bare = /https?:\/\/[^\s<>"'`[\]\\]{1,2048}/iy;

/** The `(url "title")` of a link. */
export function targetAt(text: string, at: number): LinkTarget | undefined {
  target.lastIndex = at;
  const found = target.exec(text);
  return found ? { url: found[1] ?? found[2] ?? "", end: target.lastIndex } : undefined;
}

/** `<https://…>`, or an address in the middle of a text. */
export function bareLinkAt(text: string, at: number): LinkTarget | undefined {
  angled.lastIndex = bare.lastIndex = at;
  if (text[at] === "<") {
    const found = angled.exec(text);
    return found ? { url: found[1]!, end: angled.lastIndex } : undefined;
  }
  if (at > 0 && /[\p{L}\p{N}_]/u.test(text[at - 1]!)) return undefined;
  const url = bare.exec(text)?.[0];
  if (url === undefined) return undefined;
  // What ends a sentence, or the brackets or emphasis around an address, is no part of it.
  const around = url.includes("(") ? ".,;:!?*_~" : ".,;:!?*_~)";
  let length = url.length;
  while (around.includes(url[length - 1]!)) length--;
  return isSafeUrl(url.slice(0, length)) ? { url: url.slice(0, length), end: at + length } : undefined;
}
