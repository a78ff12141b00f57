/** Finds the blocks of a text among the nodes of its syntax tree. Its text is part of the parser's program, so it uses nothing from outside. */
import type { SyntaxBlock } from "@tau/tools";

/** A node of more than one line. Lines are counted from 1, offsets are in UTF-16 units. */
export interface LongNode {
  readonly line: number;
  readonly endLine: number;
  readonly start: number;
  readonly end: number;
  /** Whether it can be a block: a list of statements, for example, belongs to what is above it. */
  readonly isBlock: boolean;
}

/**
 * Finds the largest block of each line. A block is changed by its lines, so that these have to be its own: `} else {` ends one block
 * and opens another, and `})` may end what began outside of it.
 */
export function findBlocks(nodes: readonly LongNode[], text: string): SyntaxBlock[] {
  const getLineBefore = (offset: number) => text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const getLineAfter = (offset: number) => {
    const end = text.indexOf("\n", offset);
    return text.slice(offset, end < 0 ? text.length : end);
  };
  /** Where the first of the nodes ends that end in a line, by the line. One that ends with a line break has no part of the next line. */
  const firstEnds = new Map<number, number>();
  for (const { end, endLine } of nodes) {
    const isFirst = end < (firstEnds.get(endLine) ?? Infinity);
    if (isFirst && getLineBefore(end).trim() !== "") firstEnds.set(endLine, end);
  }
  const hasOwnLines = ({ line, start, end }: LongNode): boolean => {
    if ((firstEnds.get(line) ?? Infinity) <= start) return false;
    // Behind it there may be a separator and a comment.
    return text[end - 1] === "\n" || /^[\s,;]*(?:(?:\/\/|\/\*|#|--|<!--).*)?$/.test(getLineAfter(end));
  };
  const blocks = new Map<number, number>();
  for (const node of nodes) {
    const { line, endLine, isBlock } = node;
    if (isBlock && endLine > (blocks.get(line) ?? 0) && hasOwnLines(node)) blocks.set(line, endLine);
  }
  return [...blocks].map(([line, endLine]) => ({ line, endLine }));
}
