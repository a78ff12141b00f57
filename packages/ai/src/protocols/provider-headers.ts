import type { Context } from "../context.ts";
import type { Model } from "../model.ts";
import { providers } from "../providers/index.ts";

/** Headers that a provider's data asks for, whatever protocol it is spoken to in. Pure. */
export function providerHeaders(model: Model, context: Context): Record<string, string> {
  const { headers, tellsInitiator } = providers[model.provider] ?? {};
  return { ...headers, ...(tellsInitiator && initiatorHeaders(context)) };
}

/** Who caused the request: what follows a person's message is theirs, what follows a tool's result is the agent's. */
function initiatorHeaders({ messages }: Context): Record<string, string> {
  const seesImages = messages.some(
    ({ content }) => Array.isArray(content) && content.some((block) => block.type === "image"),
  );
  return {
    "x-initiator": messages.at(-1)?.role === "user" ? "user" : "agent",
    ...(seesImages && { "copilot-vision-request": "true" }),
  };
}
