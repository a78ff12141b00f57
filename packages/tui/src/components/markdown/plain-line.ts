/** Lines in which nothing has a meaning, as most that people type. To load the lexer for them takes longer than to draw them. */
import type { Token, Tokens } from "@tau/markdown";

/** It begins no block, and has none of the characters that begin something within a line. */
const plainCharacters = /^(?:[a-z]|\d+ )[a-z\d ,;!?()"'%/+=.-]*$/i;
const address = /www\./i;

/** Whether a text is one such line. */
export const isPlainLine = (source: string): boolean => plainCharacters.test(source) && !address.test(source);

/** Returns the tokens that the lexer would make of it. */
export function toPlainTokens(source: string): Token[] {
  const text: Tokens.Text = { type: "text", raw: source, text: source, escaped: false };
  return [{ type: "paragraph", raw: source, text: source, tokens: [text] }];
}
