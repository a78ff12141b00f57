/** Brace expansion of the source of one word, as bash does it before anything else. Pure. */

const maxWords = 256;

/** The words that a word stands for, still with their quotes; undefined where there are too many. */
export function expandBraces(source: string): string[] | undefined {
  const brace = findBrace(source);
  if (!brace) return [source];
  const tails = expandBraces(source.slice(brace.end + 1));
  if (!tails || brace.items === "too many") return undefined;
  const words: string[] = [];
  for (const item of brace.items) {
    const expanded = expandBraces(item);
    if (!expanded) return undefined;
    for (const middle of expanded) for (const tail of tails) words.push(source.slice(0, brace.start) + middle + tail);
    if (words.length > maxWords) return undefined;
  }
  return words;
}

interface Brace {
  start: number;
  end: number;
  items: readonly string[] | "too many";
}

/** The first braces that expand. */
function findBrace(source: string): Brace | undefined {
  for (let start = skipTo(source, 0, "{"); start < source.length; start = skipTo(source, start + 1, "{")) {
    if (source[start - 1] === "$") continue;
    const brace = readBrace(source, start);
    if (brace) return brace;
  }
  return undefined;
}

function readBrace(source: string, start: number): Brace | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let index = start; index < source.length; index = skipQuoted(source, index) + 1) {
    const char = source[index];
    if (char === "{") depth++;
    else if (char === "," && depth === 1) commas.push(index);
    else if (char === "}" && --depth === 0) {
      if (commas.length === 0) {
        const items = expandSequence(source.slice(start + 1, index));
        return items && { start, end: index, items };
      }
      const cuts = [start, ...commas, index];
      return { start, end: index, items: cuts.slice(1).map((cut, part) => source.slice(cuts[part]! + 1, cut)) };
    }
  }
  return undefined;
}

/** `1..5`, `a..e` and `1..9..2`; undefined for anything else. */
function expandSequence(body: string): Brace["items"] | undefined {
  const match = /^(?:(-?\d+)\.\.(-?\d+)|([a-zA-Z])\.\.([a-zA-Z]))(?:\.\.(-?\d+))?$/.exec(body);
  if (!match) return undefined;
  const [, from, to, first, last, step] = match;
  const start = first ? first.charCodeAt(0) : Number(from);
  const end = last ? last.charCodeAt(0) : Number(to);
  const size = Math.abs(Number(step ?? 1)) || 1;
  const count = Math.floor(Math.abs(end - start) / size) + 1;
  if (!Number.isSafeInteger(count) || count > maxWords) return "too many";
  const isPadded = [from, to].some((part) => part !== undefined && /^-?0\d/.test(part));
  const width = isPadded ? Math.max(from!.length, to!.length) : 0;
  return Array.from({ length: count }, (_, index) => {
    const value = start + (end < start ? -size : size) * index;
    return first ? String.fromCharCode(value) : pad(value, width);
  });
}

const pad = (value: number, width: number) =>
  value < 0 ? `-${String(-value).padStart(width - 1, "0")}` : String(value).padStart(width, "0");

function skipTo(source: string, from: number, char: string): number {
  let index = from;
  while (index < source.length && source[index] !== char) index = skipQuoted(source, index) + 1;
  return index;
}

/** The last index of the quoted text or expansion that begins here; the same index for a plain character. */
function skipQuoted(source: string, index: number): number {
  const char = source[index];
  if (char === "\\") return index + 1;
  if (char === "'" || char === '"' || char === "`") return findClosing(source, index + 1, char);
  if (char === "$" && (source[index + 1] === "(" || source[index + 1] === "{")) {
    const [open, close] = source[index + 1] === "(" ? ["(", ")"] : ["{", "}"];
    let depth = 0;
    for (let at = index + 1; at < source.length; at++) {
      if (source[at] === "\\") at++;
      else if (source[at] === "'" || source[at] === '"') at = findClosing(source, at + 1, source[at]!);
      else if (source[at] === open) depth++;
      else if (source[at] === close && --depth === 0) return at;
    }
    return source.length;
  }
  return index;
}

function findClosing(source: string, from: number, quote: string): number {
  for (let index = from; index < source.length; index++) {
    if (source[index] === "\\" && quote !== "'") index++;
    else if (source[index] === quote) return index;
  }
  return source.length;
}
