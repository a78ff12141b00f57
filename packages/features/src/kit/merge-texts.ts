import type { ImageContent, TextContent } from "@tau/ai";

/** Joins texts that follow each other. */
export function mergeTexts(blocks: readonly (TextContent | ImageContent)[]): (TextContent | ImageContent)[] {
  const merged: (TextContent | ImageContent)[] = [];
  for (const block of blocks) {
    const last = merged.at(-1);
    if (block.type === "text" && last?.type === "text")
      merged[merged.length - 1] = { ...last, text: `${last.text}\n${block.text}` };
    else merged.push(block);
  }
  return merged;
}
