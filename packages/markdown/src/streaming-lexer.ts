/**
 * The lexer of `marked` for text that is drawn while it arrives, within limits. Unlike with `lexMarkdown`, only the part
 * beyond a limit is text as it is written, so that what was drawn before it stays.
 */
import { Lexer, type MarkedOptions, type Token, type TokensList } from "marked";
import { maxDepth } from "./limits.ts";

/** `marked` reads a nested quote twice at every level, if lines follow that are nested less deep. */
const getMaxReadLength = (source: string): number => 10_000 + 64 * source.length;

/** `marked` reads the text of an item line by line, and all of the rest with each line. */
const maxItemLength = 5_000;

/** `marked` reads a word that ends with `@` once for each of its characters. */
const maxWordLength = 5_000;

/** Reads one text. */
export class StreamingLexer extends Lexer {
  #depth = 0;
  #restLength: number;

  constructor(source: string, options: MarkedOptions) {
    super(options);
    this.#restLength = getMaxReadLength(source);
  }

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], isClipped?: boolean): Token[] {
    this.#restLength -= source.length;
    if (this.#restLength < 0) return addText(tokens, source);
    const isLongItem = !this.state.top && source.length > maxItemLength;
    // A paragraph is read at once, and is the same otherwise.
    if (isLongItem) this.state.top = true;
    const result = this.#nest(source, tokens, () => super.blockTokens(source, tokens, isClipped));
    return isLongItem ? result.map(toText) : result;
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (hasLongAddress(source)) return addText(tokens, source);
    return this.#nest(source, tokens, () => super.inlineTokens(source, tokens));
  }

  #nest(source: string, tokens: Token[], lex: () => Token[]): Token[] {
    if (this.#depth >= maxDepth) return addText(tokens, source);
    this.#depth++;
    const result = lex();
    this.#depth--;
    return result;
  }
}

const hasLongAddress = (source: string): boolean =>
  source.length > maxWordLength &&
  source.includes("@") &&
  source.split(/[\s@]/).some(({ length }) => length > maxWordLength);

const toText = (token: Token): Token => (token.type === "paragraph" ? { ...token, type: "text" } : token);

function addText(tokens: Token[], source: string): Token[] {
  tokens.push({ type: "text", raw: source, text: source.trimEnd() });
  return tokens;
}
