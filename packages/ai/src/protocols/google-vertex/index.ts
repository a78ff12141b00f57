import { platform } from "#platform";
import { withHeader } from "../../auth/api-key.ts";
import { encodePayload } from "../google-generative-ai/encode.ts";
import { googleKeyHeader } from "../google-generative-ai/index.ts";
import { resolveOptions } from "../google-generative-ai/options.ts";
import { type GoogleState, start, step } from "../google-generative-ai/step.ts";
import { defineProtocol, MissingCredentials } from "../protocol.ts";
import { type GoogleVertexOptions, addProject, resolveVertexBaseUrl } from "./endpoint.ts";

/** A custom base URL may already contain the API version. */
const hasVersion = (baseUrl: string) => /\/v\d+[a-z0-9]*(\/|$)/.test(baseUrl);

/** Gemini on Google Cloud: same requests and answers as the Gemini API, but another URL and other credentials. */
export const googleVertex = defineProtocol<GoogleVertexOptions, GoogleState>({
  api: "google-vertex",
  framing: "sse",
  resolveOptions,
  encode: (model, context, options) => ({
    path: `${hasVersion(model.baseUrl) ? "" : "/v1"}/publishers/google/models/${encodeURIComponent(model.id)}:streamGenerateContent?alt=sse`,
    headers: {},
    ...encodePayload(model, context, options),
  }),
  baseUrl: resolveVertexBaseUrl,
  async authorize(request, auth) {
    if (auth.apiKey) return withHeader(request, googleKeyHeader.name, auth.apiKey);
    const withProject = { ...request, url: addProject(request.url, auth) };
    const token = auth.options.ambientCredentials === false ? undefined : await platform.googleAccessToken(auth.env);
    if (token) return withHeader(withProject, "authorization", `Bearer ${token}`);
    throw new MissingCredentials(
      `There are no Google Cloud credentials for ${auth.model.provider}. Run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS to a credentials file, or set GOOGLE_CLOUD_API_KEY.`,
    );
  },
  start,
  step,
});
