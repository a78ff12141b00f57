import { expect, test } from "vitest";
import { formatFailure } from "./format-failure.ts";

test.each([
  ["rate_limited", /cannot be reached now\. Try again later/],
  ["network", /cannot be reached now\. Try again later/],
  ["auth", /whoever runs me/],
  ["billing", /whoever runs me/],
  ["context_overflow", /\/compact/],
  ["refused", /refused/],
  ["unknown", /the log/],
  ["of a later version", /the log/],
  ["constructor", /the log/],
])("a run that failed for %s says what can be done, without a word of the failure", (code, sentence) => {
  const failure = { code, message: "The session 01862-86174 could not be saved: sk-123" };
  expect(formatFailure(failure)).toMatch(sentence);
  expect(formatFailure(failure)).not.toMatch(/\d|session/);
});
