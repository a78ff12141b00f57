/** Text in the content of messages. */
interface Block {
  type: string;
  text?: string;
}

export const contentText = (content: string | readonly Block[], separator = "\n"): string =>
  typeof content === "string"
    ? content
    : content
        .flatMap((block) => (block.type === "text" && block.text !== undefined ? [block.text] : []))
        .join(separator);
