import type { ExtensionEvent } from "@tau/extensions";

type Messages = ExtensionEvent<"agent_end">["messages"];

/** The numbered lines of the last answer. */
export function findSteps(messages: Messages): string[] {
  const answer = messages.findLast((message) => message.role === "assistant");
  if (answer?.role !== "assistant") return [];
  const text = answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return [...text.matchAll(/^\s*(\d+[.)] .+)$/gm)].map(([, step]) => step!.trim());
}
