/** Reads Markdown with the lexer of `marked`, within limits: the text may come from a model, a web page or an attacker. */
import { Lexer, type MarkedToken, type Token, Tokenizer, type TokensList } from "marked";
import { maxDepth } from "./limits.ts";

/** All the tokens there are, because no extension is registered. */
export type MarkdownToken = MarkedToken;

/** Longer texts without a blank line are not parsed: `marked` takes quadratic time for some of them. */
const maxCharsBetweenBlankLines = 10_000;

/** Marks such as `*` and `[` in one paragraph. `marked` may read the rest of the paragraph once for each of them. */
const maxInlineMarks = 500;

/** How often each character may be read on average. `marked` reads some nested blocks twice at every level. */
const maxReads = 64;

export interface LexOptions {
  /**
   * Whether definitions of links are found, as in `[name]: address`. They change what other blocks are, so that a text which
   * arrives in pieces cannot be read from its end alone. Default true.
   */
  definitions?: boolean;
}

/**
 * Splits a text into blocks, in which HTML is text. Never throws, and takes time linear in the length of the text: a text
 * that exceeds a limit is a single block of code.
 */
export function lexMarkdown(text: string, { definitions = true }: LexOptions = {}): MarkdownToken[] {
  const unparsed: MarkdownToken[] = [{ type: "code", raw: text, lang: "markdown", text }];
  if (text.split(/\n[ \t]*\n/).some((part) => part.length > maxCharsBetweenBlankLines)) return unparsed;
  const tokenizer = definitions ? new TextOnlyTokenizer() : new BlockTokenizer();
  try {
    return toMarkdownTokens(new LimitedLexer(text.length, tokenizer).lex(text));
  } catch (error) {
    if (error instanceof LimitError) return unparsed;
    throw error;
  }
}

/** Narrows the type of the tokens inside a token, which `marked` leaves open for extensions. */
export const toMarkdownTokens = (tokens: readonly Token[]): MarkdownToken[] => tokens as MarkdownToken[];

/** Thrown to leave the lexer, which calls itself and cannot be stopped in another way. */
class LimitError extends Error {}

/** A lexer for one text. Nested blocks, table cells and emphasis all pass through the overridden methods. */
class LimitedLexer extends Lexer {
  #depth = 0;
  #remainingReads: number;

  constructor(length: number, tokenizer: Tokenizer) {
    super({ gfm: true, tokenizer });
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

/** Finds no HTML, so that tags are shown, and Markdown between them is parsed. */
class TextOnlyTokenizer extends Tokenizer {
  override html(): undefined {}

  override tag(): undefined {}
}

/** Finds no definitions of links either. */
class BlockTokenizer extends TextOnlyTokenizer {
  override def(): undefined {}
}

const countMarks = (source: string): number => source.match(/[*_~`[\]<!]/g)?.length ?? 0;
