/** What a model is shown of a tool's result that is too long. Pure. */
import type { ImageContent, TextContent } from "@tau/ai";

export type ResultContent = (TextContent | ImageContent)[];

/** More images than these, or larger ones, are refused by one provider or another. */
export const maxImages = 20;
/** Characters of base64. */
export const maxImageCharacters = 5 * 1024 * 1024;

/** The part of the room that the beginning gets; the end, which says how it went, gets the rest. */
const headShare = 0.6;

/** Whether a request can carry it as it is. A few additions, so that it can be asked each time. */
export function fits(content: ResultContent, most: number): boolean {
  let text = 0;
  let images = 0;
  for (const block of content) {
    // Tools and logs of others: a block may be anything.
    if (block?.type === "text") text += getLength(block.text);
    else if (block?.type === "image" && (++images > maxImages || getLength(block.data) > maxImageCharacters))
      return false;
  }
  return text <= most;
}

const getLength = (value: unknown): number => (typeof value === "string" ? value.length : 0);

export const textLength = (content: ResultContent): number =>
  content.reduce((sum, block) => sum + (isText(block) ? block.text.length : 0), 0);

/** All of the text, as a file keeps it. */
export const getText = (content: ResultContent): string =>
  content
    .filter(isText)
    .map(({ text }) => text)
    .join("\n");

const isText = (block: TextContent | ImageContent | null): block is TextContent =>
  block?.type === "text" && typeof block.text === "string";

/** Images that a request could not carry, each replaced by a sentence. */
export function withoutExcessImages(content: ResultContent): ResultContent {
  let images = 0;
  return content.map((block) => {
    if (block?.type !== "image") return block;
    const length = getLength(block.data);
    if (length > maxImageCharacters)
      return asText(`[An image was left out: it has ${megabytes(length)}, and ${megabytes(maxImageCharacters)} fit.]`);
    return ++images > maxImages ? asText(`[An image was left out: a result may have ${maxImages}.]`) : block;
  });
}

const megabytes = (count: number) => `${(count / 1024 / 1024).toFixed(1)} MB`;
const asText = (text: string): TextContent => ({ type: "text", text });

/**
 * The beginning and the end of a text that is longer than `most`, by whole lines, and between them the sentence that
 * `note` makes of the number of characters that are missing. Several blocks are one text here: they take the room in
 * order, from both ends. Images stay where they are. What comes out is at most `most` long, unless the sentence alone
 * is longer.
 */
export function cutText(content: ResultContent, most: number, note: (missing: number) => string): ResultContent {
  const total = textLength(content);
  // The longest it can be, with a line break on either side.
  const room = Math.max(0, most - note(total).length - 2);
  const headRoom = Math.floor(room * headShare);
  const headEnd = lineBefore(content, headRoom);
  const tailStart = lineAfter(content, total - (room - headRoom), total);
  let noted = false;
  let start = 0;
  return content.flatMap((block): ResultContent => {
    if (!isText(block)) return [block];
    const { text } = block;
    const from = start;
    start += text.length;
    if (start <= headEnd || from >= tailStart) return [block];
    const tail = text.slice(tailStart - from);
    if (noted) return tail === "" ? [] : [asText(tail)];
    noted = true;
    const head = text.slice(0, Math.max(0, headEnd - from));
    const said = `${head}${head === "" || head.endsWith("\n") ? "" : "\n"}${note(tailStart - headEnd)}`;
    return [asText(tail === "" ? said : `${said}\n${tail}`)];
  });
}

/** The block that `at` lies inside of, and where that begins; undefined between two blocks. */
function blockAround(content: ResultContent, at: number): { text: string; from: number } | undefined {
  let from = 0;
  for (const block of content) {
    if (!isText(block)) continue;
    if (from >= at) return undefined;
    if (from + block.text.length > at) return { text: block.text, from };
    from += block.text.length;
  }
  return undefined;
}

/** The beginning of the line at `at`; `at` itself in a line so long that half of the room would stay empty. */
function lineBefore(content: ResultContent, at: number): number {
  const block = blockAround(content, at);
  if (!block) return at;
  const inside = at - block.from;
  const line = block.from + block.text.lastIndexOf("\n", inside - 1) + 1;
  if (line >= at / 2) return line;
  return splitsPair(block.text, inside) ? at - 1 : at;
}

/** The beginning of the next line from `at` on, with the same exception. */
function lineAfter(content: ResultContent, at: number, total: number): number {
  const block = blockAround(content, at);
  if (!block) return at;
  const inside = at - block.from;
  const next = block.text.indexOf("\n", inside - 1);
  const line = block.from + (next < 0 ? block.text.length : next + 1);
  if (total - line >= (total - at) / 2) return line;
  return splitsPair(block.text, inside) ? at + 1 : at;
}

/** Half a character would be refused on its way to a provider. */
const splitsPair = (text: string, at: number) => isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
const isHigh = (code: number) => code >= 0xd800 && code < 0xdc00;
const isLow = (code: number) => code >= 0xdc00 && code < 0xe000;
