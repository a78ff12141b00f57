import { withApiKey, withHeader } from "../../auth/api-key.ts";
import { bearer } from "../../providers/index.ts";
import type { Draft } from "../draft.ts";
import { defineProtocol } from "../protocol.ts";
import { encode } from "./encode.ts";
import { type AnthropicOptions, resolveOptions } from "./options.ts";
import { step } from "./step.ts";

/** The prefix of a subscription's OAuth token, which is sent in another header than an API key. */
const oauthTokenPrefix = "sk-ant-oat";

export const anthropicMessages = defineProtocol<AnthropicOptions, Draft>({
  api: "anthropic-messages",
  framing: "sse",
  resolveOptions,
  encode,
  authorize(request, auth) {
    if (!auth.apiKey?.startsWith(oauthTokenPrefix)) return withApiKey(request, auth, { name: "x-api-key", prefix: "" });
    const betas = [request.headers["anthropic-beta"], "oauth-2025-04-20"].filter(Boolean).join(",");
    return withHeader(withApiKey(request, auth, bearer), "anthropic-beta", betas);
  },
  start: (draft) => draft,
  step,
});
