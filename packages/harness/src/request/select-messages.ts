/** Selects what is sent of a transcript. The log keeps all of it. Pure. */
import type { AgentMessage } from "@tau/agent";
import type { Model } from "@tau/ai";
import { boundMessages, maxResultCharacters } from "./bound.ts";
import { pruneMessages, type PruneSettings } from "./prune.ts";

interface SendSettings {
  pruning: PruneSettings;
  blockImages: boolean;
}

export function messagesToSend(
  messages: readonly AgentMessage[],
  model: Pick<Model, "contextWindow">,
  { pruning, blockImages }: SendSettings,
): AgentMessage[] {
  const bounded = boundMessages(messages, maxResultCharacters(model));
  const pruned = pruneMessages(bounded, pruning);
  return blockImages ? pruned.map(withoutImages) : [...pruned];
}

const imageText = { type: "text", text: "[An image was left out: the settings block images.]" } as const;

function withoutImages(message: AgentMessage): AgentMessage {
  if (!("content" in message) || typeof message.content === "string" || message.role === "assistant") return message;
  if (!message.content.some(({ type }) => type === "image")) return message;
  const content = message.content.map((block) => (block.type === "image" ? imageText : block));
  return { ...message, content } as AgentMessage;
}
