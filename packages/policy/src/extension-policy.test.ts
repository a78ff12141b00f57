import fc from "fast-check";
import { expect, test } from "vitest";
import { execTiers } from "./exec/classification.ts";
import {
  evaluateFor,
  type ExtensionPolicy,
  isDangerous,
  type PolicyDecision,
  type PolicyInput,
  resolvePolicy,
} from "./extension-policy.ts";
import { capabilities } from "./policy.ts";
import { policyModes, policyProfiles } from "./profiles.ts";
import { restrictPolicy } from "./restrict-policy.ts";
import { isBrokeredSecret } from "./secrets/secret-names.ts";

const someCapabilities = fc.subarray([...capabilities]);
const someNames = fc.subarray(["npm", "git push", "API_KEY", "X_"]);

const overrides = fc.dictionary(
  fc.constantFrom("one", "two", "__proto__"),
  fc.record(
    { mode: fc.constantFrom(...policyModes), allow: someCapabilities, deny: someCapabilities },
    { requiredKeys: [] },
  ),
  { noNullPrototype: true },
);

const inputs: fc.Arbitrary<PolicyInput> = fc.record(
  {
    profile: fc.constantFrom(...policyProfiles, "unknown"),
    mode: fc.constantFrom(...policyModes),
    defaultCaps: someCapabilities,
    denyCaps: someCapabilities,
    perExtension: overrides,
    maxMemoryMb: fc.integer({ min: 1, max: 1_000 }),
    execMediation: fc.record(
      {
        enabled: fc.boolean(),
        denyThreshold: fc.constantFrom(...execTiers),
        denyPatterns: someNames,
        allowPatterns: someNames,
        auditAllClassified: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    secretBroker: fc.record(
      { enabled: fc.boolean(), exact: someNames, prefixes: someNames, disclosureAllowlist: someNames },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const strictness = { allow: 0, prompt: 1, deny: 2 } as const;
const getStrictness = (policy: ExtensionPolicy, capability: string, extensionId?: string) =>
  strictness[evaluateFor(capability, extensionId, policy).decision];

test.each([
  // What is asked, by which extension, under which policy: the decision and the step that made it.
  ["exec", "one", {}, "deny", "deny_caps"],
  ["read", "one", {}, "allow", "default_caps"],
  ["ui", "one", {}, "prompt", "mode"],
  ["ui", "one", { profile: "safe" }, "deny", "mode"],
  ["exec", "one", { profile: "permissive" }, "allow", "mode"],
  ["ui", "one", { profile: "nonsense" }, "deny", "mode"],
  ["exec", "one", { perExtension: { one: { allow: ["exec"] } } }, "deny", "deny_caps"],
  ["exec", "one", { denyCaps: [], perExtension: { one: { allow: ["exec"] } } }, "allow", "extension_allow"],
  ["read", "one", { perExtension: { one: { deny: ["read"], allow: ["read"] } } }, "deny", "extension_deny"],
  ["read", "two", { perExtension: { one: { deny: ["read"] } } }, "allow", "default_caps"],
  ["ui", "one", { perExtension: { one: { mode: "permissive" } } }, "allow", "mode"],
  [" READ ", "one", {}, "allow", "default_caps"],
  ["teleport", "one", { profile: "permissive" }, "deny", "mode"],
  ["ui", "constructor", {}, "prompt", "mode"],
] as const)("%s of %s under %j is %s by %s", (capability, extension, input, decision, reason) => {
  expect(evaluateFor(capability, extension, resolvePolicy(input))).toMatchObject({ decision, reason });
});

test("running commands and reading the environment are the dangerous capabilities", () => {
  expect(capabilities.filter(isDangerous)).toEqual(["exec", "env"]);
  const decision: PolicyDecision = evaluateFor("exec", "one").decision;
  expect(decision).toBe("deny");
});

test("names in snake_case mean the same", () => {
  const snake = resolvePolicy({
    default_caps: ["read"],
    deny_caps: [],
    max_memory_mb: 64,
    per_extension: { one: { deny: ["read"] } },
    exec_mediation: { deny_threshold: "high", audit_all_classified: false },
    secret_broker: { disclosure_allowlist: ["A_KEY"] },
  });
  expect(snake).toEqual(
    resolvePolicy({
      defaultCaps: ["read"],
      denyCaps: [],
      maxMemoryMb: 64,
      perExtension: { one: { deny: ["read"] } },
      execMediation: { denyThreshold: "high", auditAllClassified: false },
      secretBroker: { disclosureAllowlist: ["A_KEY"] },
    }),
  );
});

test("one more denied capability never allows more, and neither does one allowed capability less", () => {
  fc.assert(
    fc.property(inputs, fc.constantFrom(...capabilities), fc.constantFrom(...capabilities), (input, asked, changed) => {
      const policy = resolvePolicy(input);
      const denied = { ...policy, denyCaps: [...policy.denyCaps, changed] };
      const notAllowed = {
        ...policy,
        defaultCaps: policy.defaultCaps.filter((each) => each !== changed),
        perExtension: Object.fromEntries(
          Object.entries(policy.perExtension).map(([name, { allow = [], ...rest }]) => [
            name,
            { ...rest, allow: allow.filter((each) => each !== changed) },
          ]),
        ),
      };
      for (const extension of [undefined, "one", "three"]) {
        const before = getStrictness(policy, asked, extension);
        expect(getStrictness(denied, asked, extension)).toBeGreaterThanOrEqual(before);
        // In the mode `permissive` a list allows what the mode allows too.
        if (policy.mode !== "permissive" && policy.perExtension["one"]?.mode !== "permissive")
          expect(getStrictness(notAllowed, asked, extension)).toBeGreaterThanOrEqual(before);
      }
    }),
  );
});

test("a restriction never allows more than the policy that it restricts, at any depth", () => {
  fc.assert(
    fc.property(inputs, fc.array(inputs, { maxLength: 4 }), (first, rest) => {
      let policy = resolvePolicy(first);
      for (const input of rest) {
        const child = restrictPolicy(policy, input);
        for (const capability of capabilities)
          for (const extension of [undefined, "one", "two", "three", "__proto__"])
            expect(getStrictness(child, capability, extension)).toBeGreaterThanOrEqual(
              getStrictness(policy, capability, extension),
            );
        expect(child.maxMemoryMb).toBeLessThanOrEqual(policy.maxMemoryMb);
        expect(child.quota.callsPerMinute).toBeLessThanOrEqual(policy.quota.callsPerMinute);
        const [before, after] = [policy.execMediation, child.execMediation];
        expect(execTiers.indexOf(after.denyThreshold)).toBeLessThanOrEqual(execTiers.indexOf(before.denyThreshold));
        expect(after.enabled || !before.enabled).toBe(true);
        expect(before.allowPatterns).toEqual(expect.arrayContaining([...after.allowPatterns]));
        expect(after.denyPatterns).toEqual(expect.arrayContaining([...before.denyPatterns]));
        for (const name of ["API_KEY", "X_1", "npm", "HOME"])
          expect(isBrokeredSecret(name, child.secretBroker) || !isBrokeredSecret(name, policy.secretBroker)).toBe(true);
        policy = child;
      }
    }),
  );
});

test("a restriction that survives being written down and read again is the same", () => {
  fc.assert(
    fc.property(inputs, inputs, (first, second) => {
      const policy = resolvePolicy(first);
      const stored = JSON.parse(JSON.stringify(second)) as PolicyInput;
      expect(restrictPolicy(policy, stored)).toEqual(restrictPolicy(policy, second));
      // Applied again after a restart, it changes nothing.
      const once = restrictPolicy(policy, second);
      expect(restrictPolicy(once, second)).toEqual(once);
    }),
  );
});

test.each([
  ["ANTHROPIC_API_KEY", true],
  ["github_token", true],
  ["AWS_SECRET_ACCESS_KEY", true],
  ["HOME", false],
  ["KEYBOARD", false],
  ["MONKEY", false],
])("whether %s is a secret by its name: %s", (name, expected) => {
  expect(isBrokeredSecret(name, resolvePolicy().secretBroker)).toBe(expected);
});

test("a name on the list of exceptions is given out, and a broker that is off keeps nothing back", () => {
  const allowed = resolvePolicy({ secretBroker: { disclosureAllowlist: ["github_token"] } });
  expect(isBrokeredSecret("GITHUB_TOKEN", allowed.secretBroker)).toBe(false);
  const off = resolvePolicy({ secretBroker: { enabled: false } });
  expect(isBrokeredSecret("GITHUB_TOKEN", off.secretBroker)).toBe(false);
});
