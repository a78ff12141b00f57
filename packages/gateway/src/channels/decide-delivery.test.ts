import { expect, test } from "vitest";
import type { Delivery } from "@tau/extensions";
import { decideAfterAttempt, decideAfterCrash, isProven, maxReplyAgeMs } from "./decide-delivery.ts";

const facts = { attempts: 1, ageMs: 0, isRepeatable: false, wasUncertain: false };
const uncertain = { ...facts, isRepeatable: true, wasUncertain: true };
const notSent: Delivery = { kind: "not_sent", reason: "down" };
const unknown: Delivery = { kind: "unknown", reason: "no answer" };

test.each([
  [{ kind: "sent", messageId: "1" }, facts, { kind: "sent" }],
  [{ kind: "refused", reason: "gone" }, facts, { kind: "over", state: "refused", reason: "gone" }],
  [notSent, facts, { kind: "retry", afterMs: 1_000, isKnownUnsent: true }],
  [notSent, { ...facts, attempts: 4 }, { kind: "retry", afterMs: 8_000, isKnownUnsent: true }],
  [notSent, { ...facts, attempts: 400 }, { kind: "retry", afterMs: 60_000, isKnownUnsent: true }],
  [{ ...notSent, retryAfterMs: 5_000 }, facts, { kind: "retry", afterMs: 5_000, isKnownUnsent: true }],
  [notSent, { ...facts, ageMs: maxReplyAgeMs }, { kind: "over", state: "refused", reason: "down" }],
  [unknown, facts, { kind: "over", state: "uncertain", reason: "no answer" }],
  [unknown, { ...facts, isRepeatable: true }, { kind: "retry", afterMs: 1_000, isKnownUnsent: false }],
  [
    unknown,
    { ...facts, isRepeatable: true, ageMs: maxReplyAgeMs },
    { kind: "over", state: "uncertain", reason: "no answer" },
  ],
  // What a later attempt says does not make an earlier one certain.
  [notSent, uncertain, { kind: "retry", afterMs: 1_000, isKnownUnsent: false }],
  [{ kind: "refused", reason: "gone" }, uncertain, { kind: "over", state: "uncertain", reason: "gone" }],
  [notSent, { ...uncertain, ageMs: maxReplyAgeMs }, { kind: "over", state: "uncertain", reason: "down" }],
] as const)("%j with %j", (delivery, others, expected) => {
  expect(decideAfterAttempt({ delivery, ...others })).toEqual(expected);
});

test("after a crash only a platform that makes one message of both attempts is asked again", () => {
  expect(decideAfterCrash(true)).toMatchObject({ kind: "retry" });
  expect(decideAfterCrash(false)).toMatchObject({ kind: "over", state: "uncertain" });
});

test.each([
  [{ provesNonce: false }, 0, false],
  [{ provesNonce: true }, 1e12, true],
  [{ provesNonce: true, nonceExpiresInMs: 100 }, 99, true],
  [{ provesNonce: true, nonceExpiresInMs: 100 }, 100, false],
])("with %j, a first attempt %d ms ago is recognised: %s", (limits, ageMs, expected) => {
  expect(isProven(limits, ageMs)).toBe(expected);
});
