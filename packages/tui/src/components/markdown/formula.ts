/** Formulas of LaTeX in Markdown: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`. A block of its own if nothing else is in its lines. */
import type { MarkedOptions, Tokens } from "@tau/markdown";

export interface FormulaToken {
  type: "formula";
  raw: string;
  /** The LaTeX. */
  text: string;
  isBlock: boolean;
}

/** No blank line, since formulas have none. The limit is for signs that are never closed: each is looked at alone. */
const content = String.raw`(?:\\[\s\S]|\n(?![ \t]*\n)|[^\\\n]){1,4000}?`;
const enclosed = String.raw`\$\$(${content})\$\$|\\\[(${content})\\\]`;
/** The signs are next to what they enclose, and nothing is next to the last: others are prices and variables of a shell. */
const inDollars = String.raw`\$(?![\s$])((?:\\.|[^\\$\n])*?(?:\\.|[^\\$\s]))\$(?![\w({$])`;
const inParentheses = String.raw`\\\((${content})\\\)`;

const block = new RegExp(String.raw`^ {0,3}(?:${enclosed})[ \t]*(?:\n+|$)`);
const laterBlock = new RegExp(String.raw`\n {0,3}(?:${enclosed})[ \t]*(?:\n|$)`);
const inline = new RegExp(`^(?:${enclosed}|${inDollars}|${inParentheses})`);
const sign = /\$|\\[([]/;
const openBlock = new RegExp(String.raw`(?:^|\n) {0,3}(?:\$\$(?!${content}\$\$)|\\\[(?!${content}\\\]))`);

export const mayHaveFormula = (source: string): boolean => sign.test(source);

/** Whether more lines may belong to a block that has begun. */
export const hasOpenFormula = (source: string): boolean => mayHaveFormula(source) && openBlock.test(source);

const toToken = (match: RegExpExecArray | null, isBlock: boolean): Tokens.Generic | undefined => {
  const text = match
    ?.slice(1)
    .find((part) => part !== undefined)
    ?.trim();
  if (!match || !text) return undefined;
  const token: FormulaToken = { type: "formula", raw: match[0], text, isBlock };
  return { ...token };
};

/** For the lexer of `marked`. */
export const formulaExtensions: NonNullable<MarkedOptions["extensions"]> = {
  inline: [(source) => toToken(inline.exec(source), false)],
  startInline: [(source) => source.search(sign)],
  block: [(source) => toToken(block.exec(source), true)],
  startBlock: [(source) => source.search(laterBlock)],
  childTokens: {},
  renderers: {},
};
