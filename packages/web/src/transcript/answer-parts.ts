/** The thoughts and texts of an answer, with the same keys while it arrives and afterwards. Pure. */
import type { LiveMessage } from "@tau/protocol";
import type { AssistantMessage } from "./messages.ts";

interface AnswerPart {
  readonly key: string;
  readonly type: "thinking" | "text";
  readonly text: string;
}

export const toLiveParts = ({ thinking, text }: LiveMessage): AnswerPart[] =>
  number([
    { type: "thinking", text: thinking },
    { type: "text", text },
  ]);

export const toParts = ({ content }: AssistantMessage): AnswerPart[] =>
  number(
    content.flatMap((block): Omit<AnswerPart, "key">[] => {
      if (block.type === "thinking") return [{ type: "thinking", text: block.thinking }];
      return block.type === "text" ? [{ type: "text", text: block.text }] : [];
    }),
  );

/** Empty ones are left out, and each kind is counted on its own. */
function number(parts: readonly Omit<AnswerPart, "key">[]): AnswerPart[] {
  const counts = { thinking: 0, text: 0 };
  return parts
    .filter(({ text }) => text.trim() !== "")
    .map((part) => ({ key: `${part.type}${counts[part.type]++}`, ...part }));
}
