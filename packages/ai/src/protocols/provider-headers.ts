import type { Context } from "../context.ts";
import type { Model } from "../model.ts";
import { getProviderInfo } from "../providers/index.ts";

/** Headers that a provider needs with every protocol. Pure. */
export function getProviderHeaders(model: Model, context: Context): Record<string, string> {
  const { headers, tellsInitiator } = getProviderInfo(model.provider) ?? {};
  return { ...headers, ...(tellsInitiator && getInitiatorHeaders(context)) };
}

/** GitHub Copilot bills requests by initiator: `user` if the last message is the user's, else `agent`. */
function getInitiatorHeaders({ messages }: Context): Record<string, string> {
  const hasImages = messages.some(
    ({ content }) => Array.isArray(content) && content.some((block) => block.type === "image"),
  );
  return {
    "x-initiator": messages.at(-1)?.role === "user" ? "user" : "agent",
    ...(hasImages && { "copilot-vision-request": "true" }),
  };
}
