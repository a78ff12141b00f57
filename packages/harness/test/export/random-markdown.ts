/** Random texts made of the pieces that mean something in Markdown. For tests. */
import fc from "fast-check";

const pieces = [
  "* ** *** _ __ ~~ ` `` ``` ~~~ [ ] ( ) ![ ]( <> < > & \" ' \\ | - + # 1. 2) > = : a b".split(" "),
  "https://x.example javascript:a mailto:a <script> </p> |---| [a]: [a]".split(" "),
  [" ", "  ", "    ", "\n", "\n", "\n\n", "\n\n", "\t", "\n- ", "\n> ", "\n1. ", "\n| a | b |\n|---|---|\n"],
  ["\ud800", "\u0000"],
].flat();

export const markdown = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join(""));

const inlinePieces = ["*", "**", "_", "~~", "`", "[", "](https://x.example)", "https://y.example", "a", " "];

/** Markdown of a single line. */
export const inlineMarkdown = fc
  .array(fc.constantFrom(...inlinePieces), { maxLength: 24 })
  .map((parts) => parts.join(""));
