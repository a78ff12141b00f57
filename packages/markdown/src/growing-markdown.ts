import { lexMarkdown, type MarkdownToken } from "./lex-markdown.ts";

const lex = (text: string) => lexMarkdown(text, { definitions: false });

/**
 * The blocks of a text that grows. Only its end is read again: what was added can change the last block, and whether the
 * one before it is over; there may be blank lines between them. Blocks that did not change are the same objects.
 */
export class GrowingMarkdown {
  #text = "";
  #tokens: readonly MarkdownToken[] = [];

  /** `source` is the whole text so far. Definitions of links are text: see `LexOptions`. */
  update(source: string): readonly MarkdownToken[] {
    const text = source.replaceAll(/\r\n?/g, "\n");
    if (text === this.#text) return this.#tokens;
    const kept = text.startsWith(this.#text) ? this.#tokens.slice(0, -3) : [];
    const start = kept.map(({ raw }) => raw).join("");
    // `marked` leaves out some blanks, after which nobody knows where a block ends.
    this.#tokens = text.startsWith(start) ? [...kept, ...lex(text.slice(start.length))] : lex(text);
    this.#text = text;
    return this.#tokens;
  }
}
