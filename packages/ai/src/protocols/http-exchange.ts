/** Builds the HTTP request of a run, and explains an error response to it. */
import { describeKey, getEnvApiKey } from "../auth/env-keys.ts";
import { classifyResponse, type Failure } from "../failure.ts";
import { getProviderInfo } from "../providers/index.ts";
import { type HttpRequest, type HttpResponse, readErrorText } from "../transport/http.ts";
import { version } from "../version.ts";
import { resolveBaseUrl } from "./base-url.ts";
import { getProviderHeaders } from "./provider-headers.ts";
import type { Run } from "./run-state.ts";

/** The HTTP request of an attempt, with credentials. Sets what `run` has sent. */
export async function buildRequest(run: Run): Promise<HttpRequest> {
  const { encoded, model, options } = run;
  run.sent = encoded.payload;
  // A repaired payload has already been through the hook.
  if (options.onPayload && run.degradedKinds.size === 0) {
    // The hook may change it in place, and parts of it are used by later requests too.
    const payload = structuredClone(encoded.payload);
    const replacement = await options.onPayload(payload, model);
    run.sent = replacement === undefined ? payload : replacement;
  }
  // A request of a custom provider may have no body.
  const body = run.sent === undefined ? "" : JSON.stringify(run.sent);
  run.sentLength = body.length;
  const request: HttpRequest = {
    method: "POST",
    url: (run.protocol.baseUrl?.(model, options, run.env) ?? resolveBaseUrl(model, run.env)) + encoded.path,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "user-agent": `tau/${version}`,
      ...encoded.headers,
      ...getProviderHeaders(model, run.context),
      ...toLowerCaseNames(model.headers),
    },
    body,
  };
  const apiKey = options.apiKey ?? getEnvApiKey(model.provider, run.env);
  const authorized = await run.protocol.authorize(request, { model, options, apiKey, env: run.env, clock: run.clock });
  const headers = { ...authorized.headers };
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = value;
  }
  if (!options.onHeaders) return { ...authorized, headers };
  const changed: Record<string, string | null> = { ...headers };
  await options.onHeaders(changed, model);
  const kept = Object.entries(changed).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { ...authorized, headers: Object.fromEntries(kept) };
}

const toLowerCaseNames = (headers: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** How long to wait for the body of an error response. */
const errorBodyMs = 5_000;

/** The failure that an error response means. */
export async function readFailure(run: Run, response: HttpResponse): Promise<Failure> {
  const body = await readErrorText(response, errorBodyMs, run.clock);
  const { location } = response.headers;
  if (response.status >= 300 && response.status < 400) {
    return {
      kind: "invalid_request",
      status: response.status,
      message: `The server redirects to ${location ?? "an unknown URL"}. Redirects are not followed, because the request carries a key. Set the base URL to the right address.`,
    };
  }
  const failure = classifyResponse({ status: response.status, headers: response.headers, body }, run.clock.now());
  const origin = failure.kind === "auth" && describeKey(run.model.provider, run.options, run.env);
  return origin ? { ...failure, message: `${endSentence(failure.message)} ${origin}` } : failure;
}

/** Adds to the failure's message what a user needs to know of the provider. */
export function withProviderFacts({ model }: Run, failure: Failure): Failure {
  const billingUrl = failure.kind === "billing" ? getProviderInfo(model.provider)?.billingUrl : undefined;
  return billingUrl ? { ...failure, message: `${endSentence(failure.message)} Billing: ${billingUrl}` } : failure;
}

const endSentence = (text: string): string => text.replace(/[^.!?…]$/, "$&.");

/** Removes keys from the failure's message: some servers repeat a key that they reject. */
export function removeSecrets({ options, model, env }: Run, failure: Failure): Failure {
  const headers = [...Object.values(options.headers ?? {}), ...Object.values(model.headers ?? {})];
  const secrets = [options.apiKey ?? getEnvApiKey(model.provider, env), ...headers].filter(
    (value) => typeof value === "string" && value.length >= 8,
  );
  const message = (secrets as string[]).reduce((text, secret) => text.replaceAll(secret, "…"), failure.message);
  return message === failure.message ? failure : { ...failure, message };
}
