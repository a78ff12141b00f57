/** Shortens the content of a result. Pure. */
import type { ImageContent, TextContent } from "@tau/ai";

export type ResultContent = (TextContent | ImageContent)[];

/** Some providers refuse more or larger images. */
export const maxImages = 20;
/** Characters of base64. */
export const maxImageCharacters = 5 * 1024 * 1024;

/** The share of the beginning; the end, which usually holds the outcome, gets the rest. */
const headShare = 0.6;

/** Whether a request can carry the content as it is. Fast enough to be called for every request. */
export function fits(content: ResultContent, maxCharacters: number): boolean {
  let characters = 0;
  let images = 0;
  for (const block of content) {
    if (block?.type === "text") characters += getLength(block.text);
    else if (block?.type === "image" && (++images > maxImages || getLength(block.data) > maxImageCharacters))
      return false;
  }
  return characters <= maxCharacters;
}

const getLength = (value: unknown): number => (typeof value === "string" ? value.length : 0);

export const getTextLength = (content: ResultContent): number =>
  content.reduce((sum, block) => sum + (isText(block) ? block.text.length : 0), 0);

/** Blocks of custom tools and logs are not validated. */
const isText = (block: TextContent | ImageContent | null): block is TextContent =>
  block?.type === "text" && typeof block.text === "string";

/** Replaces images that a request cannot carry by notes. */
export function withoutExcessImages(content: ResultContent): ResultContent {
  let images = 0;
  return content.map((block) => {
    if (block?.type !== "image") return block;
    const length = getLength(block.data);
    if (length > maxImageCharacters) {
      const sizes = `it has ${formatMegabytes(length)}, and the limit is ${formatMegabytes(maxImageCharacters)}`;
      return toBlock(`[An image was left out: ${sizes}.]`);
    }
    return ++images > maxImages ? toBlock(`[An image was left out: a result may have ${maxImages}.]`) : block;
  });
}

const formatMegabytes = (count: number) => `${(count / 1024 / 1024).toFixed(1)} MB`;
const toBlock = (text: string): TextContent => ({ type: "text", text });

/**
 * Keeps whole lines at the beginning and the end of the text, and puts `formatNote`, called with the number of missing
 * characters, between them. Several blocks are treated as one text; images stay. The result has at most `maxCharacters`,
 * unless the note alone is longer.
 */
export function cutText(
  content: ResultContent,
  maxCharacters: number,
  formatNote: (missing: number) => string,
): ResultContent {
  const total = getTextLength(content);
  // The longest possible note, with a line feed on either side.
  const keptLength = Math.max(0, maxCharacters - formatNote(total).length - 2);
  const headLength = Math.floor(keptLength * headShare);
  const headEnd = findHeadEnd(content, headLength);
  const tailStart = findTailStart(content, total - (keptLength - headLength), total);
  let hasNote = false;
  let position = 0;
  return content.flatMap((block): ResultContent => {
    if (!isText(block)) return [block];
    const { text } = block;
    const start = position;
    position += text.length;
    if (position <= headEnd || start >= tailStart) return [block];
    const tail = text.slice(tailStart - start);
    if (hasNote) return tail === "" ? [] : [toBlock(tail)];
    hasNote = true;
    const head = text.slice(0, Math.max(0, headEnd - start));
    const lineFeed = head === "" || head.endsWith("\n") ? "" : "\n";
    const kept = `${head}${lineFeed}${formatNote(tailStart - headEnd)}`;
    return [toBlock(tail === "" ? kept : `${kept}\n${tail}`)];
  });
}

/** The block that holds `position`, and where it starts; undefined at the boundary of two blocks. */
function findBlock(content: ResultContent, position: number): { text: string; start: number } | undefined {
  let start = 0;
  for (const block of content) {
    if (!isText(block)) continue;
    if (start >= position) return undefined;
    if (start + block.text.length > position) return { text: block.text, start };
    start += block.text.length;
  }
  return undefined;
}

/** The start of the line at `position`; `position` itself if that would lose more than half of the head. */
function findHeadEnd(content: ResultContent, position: number): number {
  const block = findBlock(content, position);
  if (!block) return position;
  const index = position - block.start;
  const lineStart = block.start + block.text.lastIndexOf("\n", index - 1) + 1;
  if (lineStart >= position / 2) return lineStart;
  return splitsPair(block.text, index) ? position - 1 : position;
}

/** The start of the next line after `position`; `position` itself if that would lose more than half of the tail. */
function findTailStart(content: ResultContent, position: number, total: number): number {
  const block = findBlock(content, position);
  if (!block) return position;
  const index = position - block.start;
  const lineEnd = block.text.indexOf("\n", index - 1);
  const nextLine = block.start + (lineEnd < 0 ? block.text.length : lineEnd + 1);
  if (total - nextLine >= (total - position) / 2) return nextLine;
  return splitsPair(block.text, index) ? position + 1 : position;
}

/** Providers refuse half of a surrogate pair. */
const splitsPair = (text: string, index: number) =>
  /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(index - 1, index + 1));
