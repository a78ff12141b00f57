/** The lexer of `marked`, within limits: the text may come from a model, a web page or an attacker. */
import { Lexer, type MarkedOptions, type Token, type TokensList } from "marked";

/** Deeper lists, quotes and emphasis could overflow the stack. */
const maxDepth = 16;

/** `marked` reads a nested quote twice at every level, if lines follow that are nested less deep. */
const getMaxReadLength = (source: string): number => 10_000 + 64 * source.length;

/** `marked` reads the text of an item line by line, and all of the rest with each line. */
const maxItemLength = 5_000;

/** `marked` reads a word that ends with `@` once for each of its characters. */
const maxWordLength = 5_000;

/** For one text. What is beyond the limits is text as it is written. */
export class LimitedLexer extends Lexer {
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
