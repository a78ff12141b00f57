import { withApiKey } from "../../auth/api-key.ts";
import { defineProtocol } from "../protocol.ts";
import { encode } from "./encode.ts";
import { type MistralOptions, resolveOptions } from "./options.ts";
import { type MistralState, start, step } from "./step.ts";

export const mistralConversations = defineProtocol<MistralOptions, MistralState>({
  api: "mistral-conversations",
  framing: "sse",
  resolveOptions,
  encode,
  authorize: (request, auth) => withApiKey(request, auth),
  start,
  step,
});
