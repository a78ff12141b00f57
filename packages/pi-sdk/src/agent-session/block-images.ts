/** Leaves images out of what is sent. The session keeps them. Pure. */
import type { Message } from "@tau/ai";

const notice = { type: "text", text: "Image reading is disabled." } as const;

/** Images that follow one another are replaced by one notice. */
export function blockImages(messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    if (message.role === "assistant" || typeof message.content === "string") return message;
    const content = message.content.flatMap((block, index, blocks) => {
      if (block.type !== "image") return [block];
      return blocks[index - 1]?.type === "image" ? [] : [notice];
    });
    return { ...message, content } as Message;
  });
}
