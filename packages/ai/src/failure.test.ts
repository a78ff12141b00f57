import { expect, test } from "vitest";
import {
  classifyError,
  classifyMessage,
  classifyResponse,
  classifyThrown,
  describeError,
  type FailureKind,
  isRetryable,
  parseDuration,
  parseRetryAfter,
} from "./failure.ts";

const now = Date.UTC(2026, 0, 1, 12, 0, 0);
const respond = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  classifyResponse({ status, headers, body: typeof body === "string" ? body : JSON.stringify(body) }, now);

/** Real error responses, one for each distinct message. */
const overflows: [string, number, unknown][] = [
  [
    "Anthropic",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 213462 tokens > 200000 maximum" },
    },
  ],
  [
    "Anthropic, including max_tokens",
    400,
    {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "input length and `max_tokens` exceed context limit: 199000 + 21000 > 200000, decrease input length",
      },
    },
  ],
  [
    "Anthropic, by size",
    413,
    { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
  ],
  [
    "OpenAI",
    400,
    {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
        type: "invalid_request_error",
        code: "context_length_exceeded",
      },
    },
  ],
  [
    "OpenAI Responses",
    400,
    {
      error: {
        message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
        type: "invalid_request_error",
        code: null,
      },
    },
  ],
  [
    "Google",
    400,
    {
      error: {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
      },
    },
  ],
  ["Bedrock", 400, { message: "Input is too long for requested model." }],
  [
    "xAI",
    400,
    {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
  ],
  [
    "Groq",
    400,
    { error: { message: "Please reduce the length of the messages or completion.", type: "invalid_request_error" } },
  ],
  [
    "OpenRouter",
    400,
    {
      error: {
        message: "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens.",
        code: 400,
      },
    },
  ],
  [
    "Together",
    422,
    {
      error: {
        message:
          "Input validation error: the input (40000 tokens) is longer than the model's context length (32768 tokens).",
      },
    },
  ],
  [
    "Mistral",
    400,
    {
      object: "error",
      message: "Prompt contains 66000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      type: "invalid_request_error",
    },
  ],
  [
    "GitHub Copilot",
    400,
    {
      error: {
        message: "prompt token count of 140000 exceeds the limit of 128000",
        code: "model_max_prompt_tokens_exceeded",
      },
    },
  ],
  [
    "llama.cpp",
    400,
    {
      error: {
        code: 400,
        message: "the request exceeds the available context size (8192 tokens), try increasing it",
        type: "exceed_context_size_error",
      },
    },
  ],
  [
    "LM Studio",
    400,
    { error: "The number of tokens to keep from the initial prompt is greater than the context length." },
  ],
  [
    "MiniMax",
    400,
    { error: { message: "invalid params, context window exceeds limit (2013)", type: "bad_request_error" } },
  ],
  [
    "Kimi",
    400,
    {
      error: {
        message: "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)",
        type: "invalid_request_error",
      },
    },
  ],
  [
    "vLLM",
    400,
    {
      object: "error",
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      code: 400,
    },
  ],
  ["Ollama", 400, { error: "prompt too long; exceeded max context length by 100 tokens" }],
  [
    "Cloudflare",
    400,
    {
      errors: [
        {
          message:
            "AiError: The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8000).",
          code: 5021,
        },
      ],
    },
  ],
  ["Cerebras, with an empty body", 413, ""],
  [
    "llama.cpp, as a server error",
    500,
    { error: { message: "Context size has been exceeded.", type: "server_error" } },
  ],
  [
    "a compatible server",
    400,
    { error: { message: "Input length (9001) exceeds model's maximum context length (8192)." } },
  ],
  [
    "Bedrock Mantle",
    400,
    { error: { code: "invalid_prompt", message: "prompt tokens (9001) exceed model maximum (8192)" } },
  ],
  [
    "Poolside",
    400,
    { error: { message: "Input length 9001 exceeds the maximum allowed input length of 8192 tokens." } },
  ],
  ["LM Studio, second message", 400, { error: "Trying to keep the first 9000 tokens when context the overflows." }],
  ["z.ai, by number", 400, { error: { code: "1261", message: "Prompt exceeds max length" } }],
  [
    "Volcano Engine",
    400,
    { error: { code: "InvalidParameter", message: "Input length 203743 exceeds the maximum length 202752" } },
  ],
  ["Kimi, in bytes", 400, { error: { message: "total message size 10176584 exceeds limit 2097152" } }],
  [
    "Kronk",
    500,
    { error: { code: "server_error", message: "unable to process request: the context window is full." } },
  ],
];

test.each(overflows)("a context overflow is recognised: %s", (_name, status, body) => {
  expect(respond(status, body).kind).toBe("context_overflow");
});

const others: [string, number, unknown, FailureKind][] = [
  [
    "tokens per minute",
    429,
    {
      error: {
        message: "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.",
        code: "rate_limit_exceeded",
      },
    },
    "rate_limited",
  ],
  [
    "Bedrock's throttling",
    429,
    { __type: "ThrottlingException", message: "Too many tokens, please wait before trying again." },
    "rate_limited",
  ],
  [
    "OpenAI without credit",
    429,
    { error: { type: "insufficient_quota", code: "insufficient_quota", message: "You exceeded your current quota" } },
    "billing",
  ],
  [
    "Google's quota per minute",
    429,
    {
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "You exceeded your current quota, please check your plan and billing details.",
      },
    },
    "rate_limited",
  ],
  [
    "Anthropic without credit",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "Your credit balance is too low to access the Anthropic API." },
    },
    "billing",
  ],
  ["DeepSeek without credit", 402, { error: { message: "Insufficient Balance" } }, "billing"],
  [
    "Google's invalid key",
    400,
    {
      error: {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "API key not valid.",
        details: [{ reason: "API_KEY_INVALID" }],
      },
    },
    "auth",
  ],
  [
    "Moonshot without credit",
    429,
    { error: { type: "exceeded_current_quota_error", message: "Your account is suspended" } },
    "billing",
  ],
  ["a wrong key", 401, { error: { message: "Incorrect API key provided" } }, "auth"],
  [
    "Google's wrong key",
    400,
    { error: { code: 400, status: "UNAUTHENTICATED", message: "API key not valid." } },
    "auth",
  ],
  [
    "overload at Anthropic",
    529,
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    "overloaded",
  ],
  ["a gateway's page", 502, "<html><head><title>502 Bad Gateway</title></head></html>", "overloaded"],
  ["a bad request", 400, { error: { message: "Unknown field", type: "invalid_request_error" } }, "invalid_request"],
  ["a missing model", 404, { error: { type: "not_found_error", message: "model: nope" } }, "invalid_request"],
  [
    "a filtered prompt at Azure",
    400,
    { error: { code: "content_filter", message: "The response was filtered" } },
    "refused",
  ],
  [
    "a filtered prompt at xAI",
    403,
    {
      code: "The caller does not have permission to execute the specified operation",
      error: "Content violates usage guidelines. Model: grok-4, Failed check: SAFETY_CHECK_TYPE_BIO",
    },
    "refused",
  ],
  [
    "a filtered prompt at OpenRouter",
    403,
    { error: { code: 403, message: "This model requires moderation and your input was flagged for violence." } },
    "refused",
  ],
  [
    "a filter behind OpenRouter",
    403,
    { error: { code: 403, message: "Provider returned error", metadata: { error_type: "content_policy_violation" } } },
    "refused",
  ],
  [
    "a filtered prompt at DashScope",
    400,
    {
      error: {
        code: "data_inspection_failed",
        message: "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.",
      },
    },
    "refused",
  ],
  ["a key without permission", 403, { error: { message: "Your key may not use this model" } }, "auth"],
  ["an empty body", 418, "", "invalid_request"],
];

test.each(others)("%s", (_name, status, body, kind) => {
  expect(respond(status, body).kind).toBe(kind);
});

test.each([
  [400, "invalid_request"],
  [401, "auth"],
  [402, "billing"],
  [404, "invalid_request"],
  [408, "overloaded"],
  [413, "context_overflow"],
  [429, "rate_limited"],
  [524, "overloaded"],
  [529, "overloaded"],
  [1_113, "unknown"],
] as const)("the code %s of an error without an HTTP status means %s", (code, kind) => {
  expect(classifyError(describeError({ error: { code, message: "No." } }))).toEqual({ kind, message: "No." });
});

test("the error name that AWS sends in a header is used", () => {
  const headers = { "x-amzn-errortype": "ServiceQuotaExceededException:http://internal.amazon.com/" };
  expect(respond(400, { message: "Your account has reached its limit." }, headers).kind).toBe("rate_limited");
});

test("the message for an HTML page contains its title but no markup", () => {
  const { message } = respond(
    502,
    "<!DOCTYPE html><html><head><title>Bad <b> gateway</title></head><body>x</body></html>",
  );
  expect(message).toContain("502");
  expect(message).not.toContain("<body>");
});

test.each([
  [{ "retry-after": "7" }, 7_000],
  [{ "retry-after": "1.5" }, 1_500],
  [{ "retry-after": "-3" }, 0],
  [{ "retry-after": new Date(now + 30_000).toUTCString() }, 30_000],
  [{ "retry-after": new Date(now - 30_000).toUTCString() }, 0],
  [{ "retry-after-ms": "250" }, 250],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after": "nonsense" }, undefined],
  [{ "retry-after-ms": "", "retry-after": "2" }, 2_000],
  [{}, undefined],
] as [Record<string, string>, number | undefined][])("retry headers %j mean %s ms", (headers, expected) => {
  expect(parseRetryAfter(headers, now)).toBe(expected);
});

test("the retry delay is also read from Google's RetryInfo and from error messages", () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "13.5s" }];
  expect(respond(429, { error: { status: "RESOURCE_EXHAUSTED", message: "slow down", details } })).toMatchObject({
    retryAfterMs: 13_500,
  });
  expect(respond(429, { error: { message: "Please try again in 1m30.5s." } })).toMatchObject({ retryAfterMs: 90_500 });
  expect(respond(429, { error: { message: "Please try again in 20ms." } })).toMatchObject({ retryAfterMs: 20 });
  for (const wording of ["Please retry after 20 seconds.", "Try again after 20 s", "Please retry in 20s."]) {
    expect(respond(429, { error: { message: wording } })).toMatchObject({ retryAfterMs: 20_000 });
  }
  expect(parseDuration("2h")).toBe(7_200_000);
});

test("only failures that may succeed later are retryable", () => {
  const kinds: FailureKind[] = ["rate_limited", "overloaded", "network", "idle_timeout"];
  for (const kind of kinds) expect(isRetryable({ kind, message: "" })).toBe(true);
  for (const kind of [
    "auth",
    "billing",
    "context_overflow",
    "invalid_request",
    "refused",
    "aborted",
    "unknown",
  ] as const) {
    expect(isRetryable({ kind, message: "" })).toBe(false);
  }
});

test("socket, DNS and certificate errors are classified", () => {
  const error = (code: string) => Object.assign(new Error("it failed"), { code });
  expect(classifyThrown(error("ECONNREFUSED")).kind).toBe("network");
  expect(classifyThrown(new Error("outer", { cause: error("ENOTFOUND") })).kind).toBe("network");
  expect(classifyThrown(error("SELF_SIGNED_CERT_IN_CHAIN")).message).toContain("NODE_EXTRA_CA_CERTS");
  expect(classifyThrown("a string").kind).toBe("unknown");
});

test.each<[object, FailureKind]>([
  [{ status: 429 }, "rate_limited"],
  [{ statusCode: 503 }, "overloaded"],
  [{ status: 401 }, "auth"],
  [{ code: "insufficient_quota", status: 429 }, "billing"],
  [{ error: { type: "overloaded_error" } }, "overloaded"],
  [{ name: "ThrottlingException" }, "rate_limited"],
  [{ cause: Object.assign(new Error("inner"), { status: 529 }) }, "overloaded"],
  [{ code: "ENOENT", status: "x" }, "unknown"],
])("an error that is thrown with %j has the kind of its status or code", (fields, kind) => {
  expect(classifyThrown(Object.assign(new Error("it failed"), fields))).toMatchObject({ kind, message: "it failed" });
});

test("malformed error bodies never throw", () => {
  for (const body of [
    "{",
    "[]",
    "null",
    '{"error":null}',
    `${'{"error":'.repeat(3_000)}1${"}".repeat(3_000)}`,
    "\u0000".repeat(100),
  ]) {
    expect(typeof respond(400, body).message).toBe("string");
  }
  expect(classifyError({ codes: [], message: "" }).kind).toBe("unknown");
  expect(typeof describeError(JSON.parse(`${"[".repeat(10_000)}${"]".repeat(10_000)}`)).message).toBe("string");
});

test.each<[string, FailureKind]>([
  ["Overloaded", "overloaded"],
  ['529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "overloaded"],
  ["Request failed with status code 503", "overloaded"],
  ["HTTP 429: slow down", "rate_limited"],
  ["Rate limit reached for the model", "rate_limited"],
  ["401 Unauthorized", "auth"],
  ["Incorrect API key provided", "auth"],
  ['400 {"error":{"code":"context_length_exceeded"}}', "context_overflow"],
  ["fetch failed", "network"],
  ["Your credit balance is too low", "billing"],
  ["The model has 500 parameters too many", "unknown"],
])("of an error whose text is all that is known, the kind is read from it: %s", (message, kind) => {
  expect(classifyMessage(message)).toMatchObject({ kind, message });
});
