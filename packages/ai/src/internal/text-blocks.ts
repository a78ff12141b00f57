/** The text of a message or of a result, without images and calls. Blocks of logs and custom tools are not validated. Pure. */
export function joinTextBlocks(content: string | readonly ({ type?: unknown; text?: unknown } | null)[]): string {
  if (typeof content === "string") return content;
  const texts = content.map((block) => (block?.type === "text" ? block.text : undefined));
  return texts.filter((text) => typeof text === "string").join("\n");
}
