/** Finds the blocks of code in Markdown. Pure. */
import { lexMarkdown, type MarkdownToken, toMarkdownTokens } from "./lex-markdown.ts";

export interface CodeBlock {
  /** The word after the fence; empty if there is none. */
  readonly language: string;
  /** Without the fence and its indentation. */
  readonly text: string;
}

/** Lists blocks of code in the order in which they are shown, also those in lists and quotes. */
export function listCodeBlocks(text: string): CodeBlock[] {
  return lexMarkdown(text).flatMap((token) => listInside(token, text));
}

function listInside(token: MarkdownToken, whole: string): CodeBlock[] {
  switch (token.type) {
    case "code": {
      // A text that exceeds the limits of the lexer comes back as a single block, which it is not.
      const isUnparsed = token.raw === whole && !/^(?: {0,3}(?:`{3}|~{3})| {4}|\t)/.test(whole);
      return isUnparsed ? [] : [{ language: /^\S*/.exec(token.lang ?? "")![0], text: token.text }];
    }
    case "list":
      return token.items.flatMap(({ tokens }) => toMarkdownTokens(tokens).flatMap((inner) => listInside(inner, whole)));
    case "blockquote":
      return toMarkdownTokens(token.tokens ?? []).flatMap((inner) => listInside(inner, whole));
    default:
      return [];
  }
}
