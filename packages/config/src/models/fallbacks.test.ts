import type { FailureKind } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decideAfterFailure,
  type FailedRequest,
  findChain,
  getCooldownMs,
  type NextUse,
  pickAvailable,
} from "./fallbacks.ts";

const first: Omit<FailedRequest, "kind"> = {
  hasShown: false,
  hasNextKey: false,
  hasNextModel: false,
  tries: 1,
  canRetry: true,
};

describe("what is used after a failed request", () => {
  test.each<[law: string, kind: FailureKind, facts: Partial<FailedRequest>, expected: NextUse]>([
    ["the next key at once", "rate_limited", { hasNextKey: true, hasNextModel: true }, "next_key"],
    ["the next key also for a rejected key", "auth", { hasNextKey: true, canRetry: false }, "next_key"],
    ["the next key also without credit", "billing", { hasNextKey: true, canRetry: false }, "next_key"],
    ["no other key for load, which all keys share", "overloaded", { hasNextKey: true }, "retry"],
    ["the chain at once for a rejected key", "auth", { hasNextModel: true, canRetry: false }, "next_model"],
    ["the chain at once without credit", "billing", { hasNextModel: true, canRetry: false }, "next_model"],
    ["a second try before the chain", "rate_limited", { hasNextModel: true, tries: 1 }, "retry"],
    ["a third try before the chain", "overloaded", { hasNextModel: true, tries: 2 }, "retry"],
    ["the chain after three tries", "overloaded", { hasNextModel: true, tries: 3 }, "next_model"],
    ["the chain after three tries at a limit", "rate_limited", { hasNextModel: true, tries: 3 }, "next_model"],
    ["the chain if no retry fits", "rate_limited", { hasNextModel: true, canRetry: false }, "next_model"],
    ["a retry without a chain", "overloaded", { tries: 7 }, "retry"],
    ["the end without a retry or a chain", "overloaded", { canRetry: false }, "stop"],
    ["the same again after text was shown", "overloaded", { hasShown: true, hasNextModel: true, tries: 3 }, "retry"],
    ["the end after text was shown", "auth", { hasShown: true, hasNextKey: true, canRetry: false }, "stop"],
    ["no chain for a lost connection", "network", { hasNextKey: true, hasNextModel: true, tries: 3 }, "retry"],
    ["no chain for a provider that is silent", "idle_timeout", { hasNextModel: true, canRetry: false }, "stop"],
    ["no chain for a wrong request", "invalid_request", { hasNextModel: true, canRetry: false }, "stop"],
    ["no chain for a refusal", "refused", { hasNextModel: true, canRetry: false }, "stop"],
  ])("%s (%s)", (_law, kind, facts, expected) => {
    expect(decideAfterFailure({ ...first, kind, ...facts })).toBe(expected);
  });

  test("nothing else is used after text or calls were shown, whatever failed", () => {
    const kinds = fc.constantFrom<FailureKind>("rate_limited", "overloaded", "billing", "auth", "network", "unknown");
    const facts = { hasNextKey: fc.boolean(), hasNextModel: fc.boolean(), tries: fc.nat(9), canRetry: fc.boolean() };
    fc.assert(
      fc.property(fc.record({ kind: kinds, hasShown: fc.constant(true), ...facts }), (failed) => {
        expect(decideAfterFailure(failed)).toBe(failed.canRetry ? "retry" : "stop");
      }),
    );
  });
});

describe("the chain of a model", () => {
  const opus = { provider: "anthropic", id: "opus", role: undefined };
  const isSelected = (written: string) => written === "opus" || written === "anthropic/opus";

  test.each<[law: string, chains: Parameters<typeof findChain>[0], role: string | undefined, expected: string[]]>([
    ["what follows it in a list", [["opus", "sonnet", "gpt"]], undefined, ["sonnet", "gpt"]],
    ["not what precedes it", [["gpt", "anthropic/opus", "sonnet"]], undefined, ["sonnet"]],
    ["nothing after the last", [["gpt", "opus"]], undefined, []],
    [
      "the first list that has it",
      [
        ["a", "b"],
        ["opus", "b"],
        ["opus", "c"],
      ],
      undefined,
      ["b"],
    ],
    ["none without a list that has it", [["a", "b"]], undefined, []],
    ["its own in a map", { "anthropic/opus": ["a"], "anthropic/*": ["b"] }, undefined, ["a"]],
    ["that of its provider", { "anthropic/*": ["b", "opus", "c"] }, undefined, ["b", "c"]],
    ["that of its role before all", { slow: ["r"], "anthropic/opus": ["a"] }, "slow", ["r"]],
    ["a role is also written with its mark", { "@slow": ["r"] }, "slow", ["r"]],
    ["none of another role", { slow: ["r"] }, "plan", []],
    ["none of a name that every object has", {}, "constructor", []],
  ])("%s", (_law, chains, role, expected) => {
    expect(findChain(chains, { ...opus, role }, isSelected)).toEqual(expected);
  });
});

test("a provider says how long it is not asked; otherwise it is five minutes", () => {
  expect(getCooldownMs({ kind: "rate_limited", message: "", retryAfterMs: 0 })).toBe(0);
  expect(getCooldownMs({ kind: "overloaded", message: "", retryAfterMs: 7_000 })).toBe(7_000);
  expect(getCooldownMs({ kind: "rate_limited", message: "" })).toBe(300_000);
  expect(getCooldownMs({ kind: "auth", message: "" })).toBe(300_000);
});

test("the first is used that can be used, and else the one that can be used first", () => {
  const untilMs: Record<string, number> = { a: 30, b: 20, c: 10 };
  const pick = (nowMs: number) => pickAvailable(["a", "b", "c"], (name) => untilMs[name]!, nowMs);
  expect([pick(0), pick(10), pick(20), pick(30)]).toEqual(["c", "c", "b", "a"]);
  expect(pickAvailable([], () => 0, 0)).toBeUndefined();
});
