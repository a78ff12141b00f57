/** Encodes a history for APIs with alternating turns in which tool results are blocks of a user turn. Pure. */
import type { PreparedMessage } from "../handoff.ts";
import type { ImageContent, TextContent, ToolResultMessage } from "../message.ts";

export type Block = Record<string, unknown>;

export interface Turn {
  role: "user" | "assistant";
  content: Block[];
}

interface TurnEncoder {
  message(message: Exclude<PreparedMessage, ToolResultMessage>): Block[];
  /** `images` are the blocks that must follow after all results of the turn. */
  result(message: ToolResultMessage): { result: Block; images: Block[] };
}

/** Consecutive messages of one role become one turn. The user's text may follow the results of tools in their turn. */
export function encodeTurns(messages: readonly PreparedMessage[], encoder: TurnEncoder): Turn[] {
  const turns: Turn[] = [];
  const add = (role: Turn["role"], content: Block[]) => {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  };
  let pendingImages: Block[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      const { result, images } = encoder.result(message);
      add("user", [result]);
      pendingImages.push(...images);
      continue;
    }
    add("user", pendingImages);
    pendingImages = [];
    add(message.role, encoder.message(message));
  }
  add("user", pendingImages);
  return turns;
}

/** Splits the content of a result that may contain only text. */
export function separateImages(content: readonly (TextContent | ImageContent)[]) {
  const texts = content.filter((block) => block.type === "text");
  const images = content.filter((block) => block.type === "image");
  return { content: texts.length > 0 ? texts : [{ type: "text" as const, text: "(The images follow.)" }], images };
}
