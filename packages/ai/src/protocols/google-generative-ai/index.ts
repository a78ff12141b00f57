import { withApiKey } from "../../auth/api-key.ts";
import { defineProtocol } from "../protocol.ts";
import { encode } from "./encode.ts";
import { type GoogleOptions, resolveOptions } from "./options.ts";
import { type GoogleState, start, step } from "./step.ts";

/** The header for API keys, for both the Gemini API and Vertex AI. */
export const googleKeyHeader = { name: "x-goog-api-key", prefix: "" };

export const googleGenerativeAi = defineProtocol<GoogleOptions, GoogleState>({
  api: "google-generative-ai",
  framing: "sse",
  resolveOptions,
  encode,
  authorize: (request, auth) => withApiKey(request, auth, googleKeyHeader),
  start,
  step,
});
