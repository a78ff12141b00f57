import { platform } from "#platform";
import { withHeader } from "../../auth/api-key.ts";
import { encodePayload } from "../google-generative-ai/encode.ts";
import { googleKeyHeader } from "../google-generative-ai/index.ts";
import { resolveOptions } from "../google-generative-ai/options.ts";
import { type GoogleState, start, step } from "../google-generative-ai/step.ts";
import { defineProtocol, MissingCredentials } from "../protocol.ts";
import { type GoogleVertexOptions, inProject, vertexBaseUrl } from "./endpoint.ts";

/** A base URL of one's own may name the version already. */
const namesVersion = (baseUrl: string) => /\/v\d+[a-z0-9]*(\/|$)/.test(baseUrl);

/** Gemini on Google Cloud: the same requests and answers, another address, and credentials instead of a key. */
export const googleVertex = defineProtocol<GoogleVertexOptions, GoogleState>({
  api: "google-vertex",
  framing: "sse",
  resolveOptions,
  encode: (model, context, options) => ({
    path: `${namesVersion(model.baseUrl) ? "" : "/v1"}/publishers/google/models/${encodeURIComponent(model.id)}:streamGenerateContent?alt=sse`,
    headers: {},
    ...encodePayload(model, context, options),
  }),
  baseUrl: vertexBaseUrl,
  async authorize(request, auth) {
    if (auth.apiKey) return withHeader(request, googleKeyHeader.name, auth.apiKey);
    const placed = { ...request, url: inProject(request.url, auth) };
    const token = await platform.googleAccessToken(auth.env);
    if (token) return withHeader(placed, "authorization", `Bearer ${token}`);
    throw new MissingCredentials(
      `There are no Google Cloud credentials for ${auth.model.provider}. Run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS to a credentials file, or set GOOGLE_CLOUD_API_KEY.`,
    );
  },
  start,
  step,
});
