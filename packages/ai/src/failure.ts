/**
 * Expected failures, as values. This is the only file that reads status codes and the text of provider errors. All
 * other code decides on `kind` alone.
 */
import { classifyConnectionError, type Target } from "./connection-failure.ts";
import { getErrorMessage } from "./errors.ts";
import { tryParseJson } from "./json.ts";
import { isTooDeep } from "./protocols/streaming-json.ts";

interface FailureFacts {
  /** Shown to the user: what happened and, if known, what to do. */
  message: string;
  /** The HTTP status, if there was a response. */
  status?: number;
}

export type Failure =
  | ({ kind: "rate_limited"; retryAfterMs?: number } & FailureFacts)
  | ({ kind: "overloaded"; retryAfterMs?: number } & FailureFacts)
  | ({ kind: "context_overflow" } & FailureFacts)
  | ({ kind: "auth" } & FailureFacts)
  | ({ kind: "billing" } & FailureFacts)
  | ({ kind: "invalid_request" } & FailureFacts)
  | ({ kind: "refused" } & FailureFacts)
  | ({ kind: "network" } & FailureFacts)
  /** `limitMs`: the time limit that expired, if it was one of ours. */
  | ({ kind: "idle_timeout"; limitMs?: number } & FailureFacts)
  | ({ kind: "aborted" } & FailureFacts)
  | ({ kind: "unknown" } & FailureFacts);

export type FailureKind = Failure["kind"];

/** Whether the same request may succeed if it is sent again later. */
export const isRetryable = (failure: Failure): boolean =>
  failure.kind === "rate_limited" ||
  failure.kind === "overloaded" ||
  failure.kind === "network" ||
  failure.kind === "idle_timeout";

/** An error reported by a provider, in a response body or inside a stream. */
interface ProviderErrorBody {
  /** Machine-readable names: `type`, `code`, `status`, exception names. */
  codes: string[];
  message: string;
  retryAfterMs?: number;
}

/** Classifies a response that is not a stream. `body` may be JSON, HTML, plain text or empty. */
export function classifyResponse(
  response: { status: number; headers: Record<string, string>; body: string },
  nowMs: number,
): Failure {
  const error = parseErrorBody(response.body);
  const retryAfterMs = parseRetryAfter(response.headers, nowMs) ?? error.retryAfterMs;
  const message = error.message || `The provider answered with HTTP ${response.status} and no explanation.`;
  // AWS sends the error's name in a header, as `Name:url`.
  const awsErrorName = response.headers["x-amzn-errortype"]?.split(":")[0];
  return classifyError(
    {
      codes: awsErrorName ? [...error.codes, awsErrorName] : error.codes,
      message: `HTTP ${response.status}: ${message}`,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    response.status,
  );
}

/** Classifies an error that came inside a stream (no `httpStatus`) or as the response itself (with `httpStatus`). */
export function classifyError(error: ProviderErrorBody, httpStatus?: number): Failure {
  const facts: FailureFacts = { message: error.message, ...(httpStatus !== undefined && { status: httpStatus }) };
  // Gateways put the status into the error if the response has already begun.
  const status = httpStatus ?? error.codes.map(Number).find((code) => code >= 400 && code < 600);
  const retry = error.retryAfterMs !== undefined ? { retryAfterMs: error.retryAfterMs } : {};
  const hasCode = (pattern: RegExp) => error.codes.some((code) => pattern.test(code));

  if (hasCode(billingCodes) || hasCode(spentPlanCodes) || status === 402 || billingMessage.test(error.message))
    return { kind: "billing", ...facts };
  if (hasCode(rateLimitCodes) || status === 429) return { kind: "rate_limited", ...retry, ...facts };
  // Cerebras answers a prompt that is too long with 413 and no body; no other request we send is that large.
  if (hasCode(overflowCodes) || isOverflowMessage(error.message) || status === 413) {
    return { kind: "context_overflow", ...facts };
  }
  // Before the status: xAI and OpenRouter refuse a prompt with 403, which otherwise means a rejected key.
  if (hasCode(refusalCodes) || refusalMessage.test(error.message)) return { kind: "refused", ...facts };
  if (hasCode(authCodes) || status === 401 || status === 403) return { kind: "auth", ...facts };
  if (hasCode(overloadCodes)) return { kind: "overloaded", ...retry, ...facts };
  if (status === 408 || status === 409 || status === 424 || status === 425)
    return { kind: "overloaded", ...retry, ...facts };
  if (status !== undefined && status >= 500) return { kind: "overloaded", ...retry, ...facts };
  if (hasCode(invalidCodes) || (status !== undefined && status >= 400)) return { kind: "invalid_request", ...facts };
  if (overloadMessage.test(error.message)) return { kind: "overloaded", ...retry, ...facts };
  return { kind: "unknown", ...facts };
}

const billingCodes =
  /^(insufficient_quota|billing_error|payment_required|insufficient_balance|billing_not_active|exceeded_current_quota_error)$/i;
const billingMessage =
  /credit balance is too low|insufficient (account )?balance|insufficient credits|payment required/i;
const rateLimitCodes =
  /^(rate_limit_error|rate_limit_exceeded|too_many_requests|RESOURCE_EXHAUSTED|ThrottlingException|throttlingException|ServiceQuotaExceededException|429)$/i;
const overflowCodes =
  /^(context_length_exceeded|request_too_large|model_context_window_exceeded|string_above_max_length)$/i;
/** The quota of a subscription plan. It resets after hours or days, so a retry does not help. */
const spentPlanCodes = /^(usage_limit_reached|usage_not_included)$/i;
const overloadCodes =
  /^(overloaded_error|api_error|server_error|internal_error|internal_server_error|service_unavailable|timeout_error|slow_down|UNAVAILABLE|INTERNAL|DEADLINE_EXCEEDED|internalServerException|serviceUnavailableException|modelStreamErrorException|modelErrorException|modelTimeoutException|modelNotReadyException|50[0-4]|529)$/i;
const authCodes =
  /^(authentication_error|permission_error|invalid_api_key|unauthorized|UNAUTHENTICATED|API_KEY_INVALID|PERMISSION_DENIED|accessDeniedException|UnrecognizedClientException|InvalidSignatureException|ExpiredTokenException|expired_token)$/i;
const refusalCodes =
  /^(content_filter|content_policy_violation|cyber_policy|safety|prohibited_content|data_?inspection_?failed)$/i;
const refusalMessage = /content violates usage guidelines|input was flagged|data may contain inappropriate content/i;
const invalidCodes =
  /^(invalid_request_error|invalid_prompt|INVALID_ARGUMENT|FAILED_PRECONDITION|NOT_FOUND|not_found_error|validationException|ResourceNotFoundException|invalid_image.*|unsupported_.*)$/i;
const overloadMessage = /overloaded|over capacity|temporarily unavailable|try again later|internal (server )?error/i;

/**
 * The messages with which providers say that a prompt is too long for the model.
 * A message about tokens per minute or day is a rate limit and is excluded first.
 */
const overflowMessages: readonly RegExp[] = [
  /prompt is too long/i, // Anthropic, Fireworks
  /exceed(s|ed)? (the )?context limit/i, // Anthropic: input length and max_tokens together
  /input is too long for requested model/i, // Bedrock
  /too many input tokens/i, // Bedrock
  /exceeds? (the )?(model's )?(maximum )?context (window|length|size)/i, // OpenAI Responses and compatible servers
  /prompt tokens \(\d+\) exceed model maximum/i, // Bedrock Mantle
  /exceeds? the maximum allowed input length/i, // Poolside
  /maximum context length (is|of)/i, // OpenAI, vLLM, OpenRouter, DeepSeek
  /input token count.{0,40}exceeds? the maximum/i, // Google
  /maximum prompt length is \d+/i, // xAI
  /reduce the length of the (messages|prompt|input)/i, // Groq
  /longer than the model'?s? (maximum )?context length/i, // Together
  /longer than the maximum model length/i, // vLLM
  /too large for model with \d+ maximum context/i, // Mistral
  /prompt token count of \d+ exceeds the limit/i, // GitHub Copilot
  /exceeds? the available context size/i, // llama.cpp
  /greater than the context length/i, // LM Studio
  /context window exceeds limit/i, // MiniMax
  /exceeded model token limit/i, // Kimi
  /exceed(s|ed)? (the )?(max|maximum) context length/i, // Ollama
  /prompt too long/i, // Ollama
  /exceeded this model context window/i, // Cloudflare
  /tokens.{0,20}max_new_tokens.{0,20}must be <=/i, // Hugging Face TGI
  /range of input length should be/i, // DashScope
  /context[_ ]?length[_ ]exceeded/i, // gateways that forward only the code
  /model_context_window_exceeded/i, // z.ai
  /context size has been exceeded/i, // llama.cpp
  /trying to keep the first \d+ tokens/i, // LM Studio
  /prompt exceeds max length/i, // z.ai
  /input length \d+ exceeds the maximum length/i, // Volcano Engine
  /total message size \d+ exceeds limit/i, // Kimi
  /context window is full/i, // Kronk
  /too many tokens in (the )?(prompt|request|input)/i,
];

const tokenRateMessage = /tokens? per (minute|day|hour)|\b[TR]P[MD]\b|too many tokens, please wait/i;

/** Whether an error message says that the prompt is too long for the model. */
export const isOverflowMessage = (message: string) =>
  !tokenRateMessage.test(message) && overflowMessages.some((pattern) => pattern.test(message));

/**
 * Classifies an error thrown while sending or reading: socket errors, DNS errors, untrusted certificates, and errors of a
 * vendor's SDK with a status or a code. `target` is where the request was sent.
 */
export function classifyThrown(error: unknown, target?: Target): Failure {
  const causes = listCauses(error) as (Error & { code?: unknown; status?: unknown; statusCode?: unknown })[];
  for (const { code } of causes) {
    const connection = typeof code === "string" ? classifyConnectionError(code, target) : undefined;
    if (connection) return connection;
  }
  const status = causes.flatMap((cause) => [cause.status, cause.statusCode]).find((value) => typeof value === "number");
  const codes = causes.flatMap((cause) => describeError(cause).codes);
  return classifyMessage(getErrorMessage(error), { codes, status });
}

/**
 * Classifies an error of which only the text is known, such as `529 {"type":"error",…}`, `Overloaded` or `fetch failed`, or
 * also a status and codes.
 */
export function classifyMessage(
  message: string,
  known: { codes?: readonly string[]; status?: number | undefined } = {},
): Failure {
  const match = /^(?:error:? )?(?:http |status (?:code )?)?([45]\d\d)\b|\bstatus code ([45]\d\d)\b/i.exec(message);
  const body = message.indexOf("{");
  const { codes, retryAfterMs } = parseErrorBody(body < 0 ? message : message.slice(body));
  const failure = classifyError(
    { codes: [...(known.codes ?? []), ...codes], message, ...(retryAfterMs !== undefined && { retryAfterMs }) },
    known.status ?? (match ? Number(match[1] ?? match[2]) : undefined),
  );
  const kind = failure.kind === "unknown" && messageKinds.find(([, pattern]) => pattern.test(message))?.[0];
  return kind ? { ...failure, kind } : failure;
}

/** Only for texts without a status and without a code that is known. */
const messageKinds: readonly (readonly [FailureKind, RegExp])[] = [
  ["auth", /(invalid|incorrect|missing|no|expired) (x-)?api[ -]?key|unauthori[sz]ed|authentication|permission denied/i],
  ["rate_limited", /rate.?limit|too many requests/i],
  ["network", /fetch failed|socket hang up|connection (error|reset|closed|refused|failed)|network error|timed out/i],
];

/** The error and its causes, which may form a circle. */
function listCauses(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause) causes.push(cause);
  return causes;
}

/** Extracts codes and message from an error body of any provider. Never throws. */
export function parseErrorBody(body: string): ProviderErrorBody {
  const trimmed = body.trim();
  const json = /^[[{]/.test(trimmed) ? tryParseJson(trimmed) : undefined;
  if (json === undefined) return { codes: [], message: describeText(trimmed), ...parseRetryDelay(trimmed) };
  return describeError(json);
}

/** Like `parseErrorBody`, for an error that is already parsed, such as the data of a stream's `error` event. */
export function describeError(json: unknown): ProviderErrorBody {
  const codes: string[] = [];
  const messages: string[] = [];
  let retryAfterMs: number | undefined;
  const visit = (value: unknown, depth: number): void => {
    if (depth > 5 || value === null) return;
    if (typeof value === "string") {
      if (depth > 0) messages.push(value);
      return;
    }
    if (Array.isArray(value)) {
      for (const item of value.slice(0, 10)) visit(item, depth + 1);
      return;
    }
    if (typeof value !== "object") return;
    const record = value as Record<string, unknown>;
    for (const key of [
      "type",
      "code",
      "status",
      "status_code",
      "__type",
      "reason",
      "error_code",
      "error_type",
      "name",
    ]) {
      const name = record[key];
      if (typeof name === "string" && name !== "error") codes.push(name.replace(/^.*#/, ""));
      else if (typeof name === "number") codes.push(String(name));
    }
    if (typeof record["retryDelay"] === "string") retryAfterMs ??= parseDuration(record["retryDelay"]);
    for (const key of ["message", "Message", "detail", "error_description", "msg"]) {
      if (typeof record[key] === "string") messages.push(record[key]);
      else visit(record[key], depth + 1);
    }
    for (const key of ["error", "errors", "details", "raw", "metadata"]) visit(record[key], depth + 1);
  };
  visit(json, 0);
  const message = [...new Set(messages.map((text) => text.trim()).filter(Boolean))]
    .join(" ")
    .slice(0, maxMessageLength);
  return {
    codes,
    message: message || (isTooDeep(json) ? "" : JSON.stringify(json).slice(0, maxMessageLength)),
    ...(retryAfterMs !== undefined ? { retryAfterMs } : parseRetryDelay(message)),
  };
}

const maxMessageLength = 2_000;

function describeText(text: string): string {
  if (!/^<(!doctype|html|\?xml|head|body)/i.test(text)) return text.slice(0, maxMessageLength);
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim();
  return `The server sent a web page instead of an answer${title ? ` ("${title.slice(0, 200)}")` : ""}. Check the base URL and any proxy in between.`;
}

/** The delay from `retry-after-ms` or any form of `retry-after`. Negative values and past dates give 0. */
export function parseRetryAfter(headers: Record<string, string>, nowMs: number): number | undefined {
  const inMs = Number(headers["retry-after-ms"] || Number.NaN);
  if (Number.isFinite(inMs)) return Math.max(0, inMs);
  const value = headers["retry-after"]?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? parseDuration(value) : Math.max(0, date - nowMs);
}

/** The delay that an error message asks for, as in "Please try again in 20s". */
const parseRetryDelay = (message: string): { retryAfterMs?: number } => {
  const match =
    /(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|h|hours?|m|min(?:ute)?s?|s|sec(?:ond)?s?)\s*)+)/i.exec(
      message,
    );
  const retryAfterMs = match?.[1] ? parseDuration(match[1]) : undefined;
  return retryAfterMs === undefined ? {} : { retryAfterMs };
};

/** Parses `13s`, `1m30.5s` or `250ms` (the formats of Google, Groq and OpenAI) into milliseconds. */
export function parseDuration(text: string): number | undefined {
  let total: number | undefined;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|milli|h|m|s)/gi)) {
    const factor = { ms: 1, milli: 1, h: 3_600_000, m: 60_000, s: 1_000 }[unit!.toLowerCase()]!;
    total = (total ?? 0) + Number(amount) * factor;
  }
  return total === undefined ? undefined : Math.round(total);
}
