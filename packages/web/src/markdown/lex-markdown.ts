/** Reads Markdown with the lexer of `marked`, within limits: the text may come from a model, a web page or an attacker. */
import { Lexer, type MarkedToken, type Token, Tokenizer, type TokensList } from "marked";

/** All the tokens there are, because no extension is registered. */
export type MarkdownToken = MarkedToken;

/** Longer texts without a blank line are not parsed: `marked` takes quadratic time for some of them. */
const maxCharsBetweenBlankLines = 10_000;
/** Deeper lists, quotes and emphasis could overflow the stack. */
const maxDepth = 16;
/** Marks such as `*` and `[` in one paragraph. `marked` may read the rest of the paragraph once for each of them. */
const maxInlineMarks = 500;
/** How often each character may be read on average. */
const maxReads = 64;

const withPlainLineEnds = (source: string): string => source.replaceAll(/\r\n?/g, "\n");

/** The blocks of a text, in which HTML is text. A text that exceeds a limit is a single block of code. */
export function lexMarkdown(source: string): MarkdownToken[] {
  const text = withPlainLineEnds(source);
  const unparsed: MarkdownToken[] = [{ type: "code", raw: text, lang: "markdown", text }];
  if (text.split(/\n[ \t]*\n/).some((part) => part.length > maxCharsBetweenBlankLines)) return unparsed;
  try {
    return new LimitedLexer(text.length).lex(text) as Token[] as MarkdownToken[];
  } catch (error) {
    if (error instanceof LimitError) return unparsed;
    throw error;
  }
}

/**
 * The blocks of a text that grows. Only its end is read again: what was added can change the last block, and whether the
 * one before it is over; there may be blank lines between them. Blocks that did not change are the same objects.
 */
export class GrowingMarkdown {
  #text = "";
  #tokens: readonly MarkdownToken[] = [];

  update(source: string): readonly MarkdownToken[] {
    const text = withPlainLineEnds(source);
    if (text === this.#text) return this.#tokens;
    const kept = text.startsWith(this.#text) ? this.#tokens.slice(0, -3) : [];
    const start = kept.map(({ raw }) => raw).join("");
    // `marked` leaves out some blanks, after which nobody knows where a block ends.
    this.#tokens = text.startsWith(start) ? [...kept, ...lexMarkdown(text.slice(start.length))] : lexMarkdown(text);
    this.#text = text;
    return this.#tokens;
  }
}

/** Thrown to leave the lexer, which calls itself and cannot be stopped in another way. */
class LimitError extends Error {}

class LimitedLexer extends Lexer {
  #depth = 0;
  #remainingReads: number;

  constructor(length: number) {
    super({ gfm: true, tokenizer: new TextOnlyTokenizer() });
    this.#remainingReads = maxReads * (length + 1);
  }

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[] {
    this.#countRead(source);
    if (this.#depth >= maxDepth) throw new LimitError();
    return this.#nest(() => super.blockTokens(source, tokens, isClipped));
  }

  override inline(source: string, tokens?: Token[]): Token[] {
    this.#countRead(source);
    return super.inline(source, tokens);
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    this.#countRead(source);
    const isParsed = this.#depth < maxDepth && countMarks(source) <= maxInlineMarks;
    if (isParsed) return this.#nest(() => super.inlineTokens(source, tokens));
    tokens.push({ type: "text", raw: source, text: source });
    return tokens;
  }

  #nest<T>(lex: () => T): T {
    this.#depth++;
    const result = lex();
    this.#depth--;
    return result;
  }

  #countRead(source: string): void {
    // An empty table cell takes memory too.
    this.#remainingReads -= source.length + 16;
    if (this.#remainingReads < 0) throw new LimitError();
  }
}

/**
 * Finds no HTML, so that tags are shown, and Markdown between them is parsed. Finds no definitions of links either: they change
 * what other blocks are, and `marked` drops the second one with a name.
 */
class TextOnlyTokenizer extends Tokenizer {
  override def(): undefined {}

  override html(): undefined {}

  override tag(): undefined {}
}

const countMarks = (source: string): number => source.match(/[*_~`[\]<!]/g)?.length ?? 0;
