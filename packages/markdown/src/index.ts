export type { Links, MarkedOptions, Token, Tokens } from "marked";
export { type CodeBlock, listCodeBlocks } from "./code-blocks.ts";
export { GrowingMarkdown } from "./growing-markdown.ts";
export { type LexOptions, lexMarkdown, type MarkdownToken, toMarkdownTokens } from "./lex-markdown.ts";
export { StreamingLexer } from "./streaming-lexer.ts";
