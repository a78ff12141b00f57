/** Tests that a rule beside a policy only makes it stricter, unless it may override questions. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { combineVerdicts, extendPolicy } from "./extend-policy.ts";
import type { ExecFacts, PolicyRequest, Verdict } from "./policy.ts";

const request: PolicyRequest = {
  subject: { kind: "model", sessionId: "s" },
  capability: "tool",
  target: { kind: "name", name: "refund" },
};
const ask: Verdict = { kind: "ask", rule: "outside", reason: "why" };
const allow: Verdict = { kind: "allow", rule: "mine" };
const deny: Verdict = { kind: "deny", rule: "mine", reason: "no" };
const exec = (facts: Partial<ExecFacts>): ExecFacts => ({
  class: null,
  dangerousCommandClass: null,
  tier: "high",
  reason: "",
  commands: [],
  ...facts,
});

test.each<[string, Verdict, Verdict | undefined, boolean, Verdict]>([
  ["no verdict leaves the policy's", ask, undefined, true, ask],
  ["a stricter one applies", allow, { ...ask, rule: "mine" }, false, { ...ask, rule: "mine" }],
  ["a looser one does not", ask, allow, false, ask],
  ["unless it overrides a question", ask, allow, true, allow],
  [
    "of two questions the policy's, each time if one wants that",
    ask,
    { ...ask, asksEachTime: true },
    true,
    { ...ask, asksEachTime: true },
  ],
  ["a denial stays", deny, allow, true, deny],
  ["a question about a secret stays", { ...ask, rule: "secret" }, allow, true, { ...ask, rule: "secret" }],
  [
    "a question after text of strangers stays",
    { ...ask, asksEachTime: true },
    allow,
    true,
    { ...ask, asksEachTime: true },
  ],
  [
    "the tier critical stays",
    { ...ask, exec: exec({ tier: "critical" }) },
    allow,
    true,
    { ...ask, exec: exec({ tier: "critical" }) },
  ],
  [
    "a command about credentials stays",
    { ...ask, exec: exec({ class: "credential_change" }) },
    allow,
    true,
    { ...ask, exec: exec({ class: "credential_change" }) },
  ],
  ["the facts of the command are kept", { ...ask, exec: exec({}) }, deny, false, { ...deny, exec: exec({}) }],
])("%s", (_name, own, wanted, isOverride, expected) => {
  expect(combineVerdicts(own, wanted, isOverride)).toEqual(expected);
});

const order = ["allow", "ask", "deny"];
const verdicts = fc.record({
  kind: fc.constantFrom("allow", "ask", "deny"),
  rule: fc.constantFrom("outside", "secret", "mine"),
  reason: fc.constant("why"),
}) as fc.Arbitrary<Verdict>;

test("without override a rule never allows more, and never less than it says", () => {
  fc.assert(
    fc.property(verdicts, fc.option(verdicts, { nil: undefined }), (own, wanted) => {
      const { kind } = combineVerdicts(own, wanted, false);
      expect(order.indexOf(kind)).toBe(Math.max(order.indexOf(own.kind), wanted ? order.indexOf(wanted.kind) : 0));
    }),
  );
});

test("with override what is denied stays denied", () => {
  fc.assert(
    fc.property(verdicts, verdicts, (own, wanted) => {
      if (own.kind === "deny") expect(combineVerdicts(own, wanted, true)).toEqual(own);
    }),
  );
});

test("a rule sees the call and the policy's verdict, which is made once", async () => {
  let asked = 0;
  const policy = () => {
    asked++;
    return ask;
  };
  const seen: unknown[] = [];
  const decide = extendPolicy(async (_request, next, call) => {
    seen.push(call?.args, (await next()).kind, (await next()).kind);
    return { kind: "deny", rule: "limit", reason: "Too much." };
  }).extend(policy);
  const call = { toolName: "refund", args: { amount: 5 }, needsApproval: false };
  expect(await decide(request, call)).toEqual({ kind: "deny", rule: "limit", reason: "Too much." });
  expect(seen).toEqual([{ amount: 5 }, "ask", "ask"]);
  expect(asked).toBe(1);
});
