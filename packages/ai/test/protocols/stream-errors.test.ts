/** Gateways report an error in the middle of a stream in their own form, whatever protocol they speak. */
import { describe, expect, test } from "vitest";
import type { KnownApi } from "../../src/model.ts";
import { protocols } from "../../src/protocols/index.ts";
import type { Frame } from "../../src/protocols/protocol.ts";
import { createModel, readFrames } from "./kit.ts";

const forms: [string, Frame, object][] = [
  [
    "an object without a type",
    { data: { error: { message: "prompt is too long: 9 > 8", type: "invalid_request_error", code: "400" } } },
    { kind: "context_overflow", message: "prompt is too long: 9 > 8" },
  ],
  ["a text", { data: { error: "upstream died" } }, { kind: "unknown", message: "upstream died" }],
  [
    "an object that has its status",
    { data: { error: { message: "Slow down", status_code: 429 } } },
    { kind: "rate_limited", message: "Slow down" },
  ],
  [
    "an object beside its status",
    { data: { type: "error", status: 429, error: { message: "Slow down" } } },
    { kind: "rate_limited", message: "Slow down" },
  ],
  [
    "an event that is named error",
    { event: "error", data: { type: "overloaded_error", message: "Busy" } },
    { kind: "overloaded", message: "Busy" },
  ],
];

const apis: KnownApi[] = [
  "anthropic-messages",
  "openai-responses",
  "openai-completions",
  "mistral-conversations",
  "google-generative-ai",
];

describe.each(apis)("%s", (api) => {
  test.each(forms)("an error as %s is the answer's failure", async (_name, frame, failure) => {
    const protocol = await protocols[api]();
    const model = createModel({ api, provider: "p", id: "m", baseUrl: "http://localhost" });
    expect(readFrames(protocol, model, [frame]).draft.state).toEqual({ kind: "failed", failure });
  });

  test("an error that is null is none", async () => {
    const protocol = await protocols[api]();
    const model = createModel({ api, provider: "p", id: "m", baseUrl: "http://localhost" });
    expect(readFrames(protocol, model, [{ data: { error: null } }]).draft.state).toEqual({ kind: "open" });
  });
});
