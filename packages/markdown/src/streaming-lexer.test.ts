import { Lexer, Tokenizer } from "marked";
import { expect, test } from "vitest";
import { StreamingLexer } from "./streaming-lexer.ts";

const lines = "  more text\n".repeat(600);

test.each([
  ["nothing else", `- first\n${lines}- second\n`],
  ["code", `- first\n${lines}  \`\`\`js\n  code\n  \`\`\`\n  after\n- second\n`],
  ["a paragraph and indented code", `- first\n${lines}\n  next\n  line\n\n      code\n\n- second\n`],
  ["a list", `- first\n${lines}  - nested\n\n  after\n- second\n`],
  ["an underline", `- first\n${lines}  ===\n  after\n- second\n`],
  ["a table", `- first\n${lines}  | a | b |\n  |---|---|\n  | c | d |\n- second\n`],
  ["a heading and more text", `- first\n${lines}  # heading\n${lines}- second\n`],
  ["HTML", `- [x] first\n${lines}  <div>\n  x\n  </div>\n${lines}- second\n`],
])("an item with many lines and %s is what it is for the lexer of marked", (_name, source) => {
  const toComparable = (tokens: unknown) =>
    JSON.parse(JSON.stringify(tokens, (key, value: unknown) => (key === "raw" ? undefined : value))) as unknown;
  const expected = toComparable(new Lexer({ gfm: true }).lex(source));
  expect(toComparable(new StreamingLexer(source, { gfm: true }).lex(source))).toEqual(expected);
});

test.each(["  more text\n", "more text\n"])("an item of 20,000 lines %j is not read again with each line", (line) => {
  let readLength = 0;
  class CountingTokenizer extends Tokenizer {
    override lheading(source: string) {
      readLength += source.length;
      return super.lheading(source);
    }
  }
  const source = `- first\n${line.repeat(20_000)}`;
  new StreamingLexer(source, { gfm: true, tokenizer: new CountingTokenizer() }).lex(source);
  expect(readLength).toBeLessThan(4 * source.length);
});
