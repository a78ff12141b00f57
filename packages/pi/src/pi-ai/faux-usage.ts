/** Estimates what a request would have cost, at four characters a token. */
import { type AssistantMessage, type Context, emptyUsage, type StreamOptions, type Usage } from "@tau/ai";

type Content = Exclude<Context["messages"][number]["content"], string>[number];

const countTokens = (text: string): number => Math.ceil(text.length / 4);

/** `prompts` has the last prompt of each session. The beginning that a prompt shares with it is reported as read from a cache. */
export function estimateUsage(
  { content }: AssistantMessage,
  context: Context,
  { sessionId, cacheRetention }: StreamOptions,
  prompts: Map<string, string>,
): Usage {
  const prompt = toText(context);
  const output = countTokens(content.map(describe).join("\n"));
  const isCached = sessionId !== undefined && cacheRetention !== "none";
  const shared = isCached ? countShared(prompts.get(sessionId) ?? "", prompt) : 0;
  if (isCached) prompts.set(sessionId, prompt);
  const cacheRead = countTokens(prompt.slice(0, shared));
  const cacheWrite = isCached ? countTokens(prompt.slice(shared)) : 0;
  const input = countTokens(prompt) - cacheRead;
  return {
    ...emptyUsage(),
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
  };
}

function countShared(before: string, now: string): number {
  let length = 0;
  while (length < before.length && before[length] === now[length]) length++;
  return length;
}

function toText({ systemPrompt, messages, tools = [] }: Context): string {
  const parts = messages
    // The prompt is counted once, although providers also get it as a first message.
    .filter(({ role }) => role === "user" || role === "assistant" || role === "toolResult")
    .map((message) => {
      const content = typeof message.content === "string" ? [message.content] : message.content.map(describe);
      return `${message.role}:${[...(message.role === "toolResult" ? [message.toolName] : []), ...content].join("\n")}`;
    });
  if (systemPrompt) parts.unshift(`system:${systemPrompt}`);
  if (tools.length > 0) parts.push(`tools:${JSON.stringify(tools)}`);
  return parts.join("\n\n");
}

function describe(block: Content): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking;
    case "image":
      return `[image:${block.mimeType}:${block.data.length}]`;
    case "toolCall":
      return `${block.name}:${JSON.stringify(block.arguments)}`;
  }
}
