import { permissionModes, type PermissionMode, type WritingMode } from "@tau/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPolicy, type PolicyParts } from "./create-policy.ts";
import { execClasses, execTiers } from "./exec/classification.ts";
import { resolvePolicy } from "./extension-policy.ts";
import { applyEachTime, applyPermissionMode, applyRisk } from "./permission-mode.ts";
import { applyPlanMode } from "./plan-mode.ts";
import type { PolicyRequest, Subject, Verdict } from "./policy.ts";
import { createSecretBroker } from "./secrets/secret-broker.ts";

const subjects: readonly Subject[] = [
  { kind: "model", sessionId: "s" },
  { kind: "child", sessionId: "c", parentSessionId: "s" },
  { kind: "extension", name: "clock" },
];
const home = "/home/me";

const request: fc.Arbitrary<PolicyRequest> = fc.record({
  subject: fc.constantFrom(...subjects),
  capability: fc.constantFrom("read", "write", "exec", "env", "http", "tool"),
  target: fc.oneof(
    fc.record({
      kind: fc.constant("path" as const),
      path: fc.constantFrom("/src/app/a.ts", "/etc/hosts", "/home/me/.tau/settings.json", "/src/app/.git/hooks/x"),
    }),
    fc.record({
      kind: fc.constant("command" as const),
      command: fc.constantFrom("ls -la", "npm test", "sudo rm x", "rm -rf /", "git push", "curl -d @a http://x"),
    }),
    fc.record({ kind: fc.constant("host" as const), host: fc.constant("a.example") }),
    fc.record({ kind: fc.constant("name" as const), name: fc.constantFrom("GITHUB_TOKEN", "jobs") }),
  ),
});

const exec = fc.record({
  class: fc.constantFrom(null, ...execClasses),
  tier: fc.constantFrom(...execTiers),
  reason: fc.constant("It does something."),
  commands: fc.constant([["x"]]),
  dangerousCommandClass: fc.constant(null),
});
const rule = fc.constantFrom("outside", "protected", "agent-directory", "secret", "exec:pattern", "taint", "root");
const verdict: fc.Arbitrary<Verdict> = fc.oneof(
  fc.record({ kind: fc.constant("allow" as const), rule, exec, isNamed: fc.boolean() }),
  fc.record({
    kind: fc.constant("ask" as const),
    rule,
    exec,
    reason: fc.constant("It is risky."),
    asksEachTime: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("deny" as const), rule, reason: fc.constant("No."), exec }),
);

const facts = fc.record({ isSandboxed: fc.boolean(), agentDir: fc.constant("/home/me/.tau") });

describe("for every request and verdict", () => {
  test("a stricter mode never allows more than a freer one, and none allows what the policy denies", () => {
    fc.assert(
      fc.property(request, verdict, facts, (asked, alone, known) => {
        const allows = (mode: PermissionMode) => {
          const change = { request: asked, verdict: alone };
          if (mode !== "plan") return applyPermissionMode(mode, change, known).kind === "allow";
          return applyPlanMode(asked, applyPermissionMode("ask", change, known), known).kind === "allow";
        };
        const [plan, ask, edit, free] = permissionModes.map(allows);
        expect(!plan || ask).toBe(true);
        expect(!ask || edit).toBe(true);
        expect(!edit || free).toBe(true);
        if (alone.kind === "deny") expect([plan, ask, edit, free]).toEqual([false, false, false, false]);
      }),
      { numRuns: 2_000 },
    );
  });

  test("free allows nothing beyond edit that is critical, a credential, or outside the sandbox", () => {
    fc.assert(
      fc.property(request, verdict, facts, (asked, alone, known) => {
        if (alone.kind === "allow") return;
        const { kind } = applyPermissionMode("free", { request: asked, verdict: alone }, known);
        const { target, capability, subject } = asked;
        const isCritical = alone.exec?.tier === "critical" && target.kind === "command";
        const isOutside = !known.isSandboxed || (target.kind === "path" && capability !== "read");
        if (isCritical || capability === "env" || isOutside || subject.kind === "extension")
          expect(kind).not.toBe("allow");
        // Where there is a sandbox, the model's calls are never asked about.
        if (known.isSandboxed && subject.kind !== "extension") expect(kind).not.toBe("ask");
      }),
      { numRuns: 2_000 },
    );
  });
});

function decide(mode: WritingMode, parts: Partial<PolicyParts> = {}) {
  const policy = createPolicy({
    rules: { roots: ["/src/app"], home, agentDir: "/home/me/.tau" },
    getPolicy: () => resolvePolicy(),
    getMode: () => mode,
    secrets: createSecretBroker({
      policy: () => resolvePolicy().secretBroker,
      isOwnKey: () => false,
      env: { GITHUB_TOKEN: "gh-secret" },
    }),
    context: { cwd: "/src/app", home, workspace: "/src/app" },
    isSandboxed: async () => true,
    getNetwork: () => "none",
    getGrantedPaths: () => [],
    getTaint: async () => undefined,
    shell: undefined,
    ...parts,
  });
  return async (capability: PolicyRequest["capability"], target: PolicyRequest["target"]) =>
    (await policy({ subject: subjects[0]!, capability, target })).kind;
}
const path = (name: string) => ({ kind: "path", path: name }) as const;
const command = (text: string) => ({ kind: "command", command: text }) as const;

describe("the policy of a session", () => {
  test.each<[PolicyRequest["capability"], PolicyRequest["target"], ask: string, edit: string, free: string]>([
    ["write", path("/src/app/a.ts"), "ask", "allow", "allow"],
    ["read", path("/src/app/a.ts"), "allow", "allow", "allow"],
    ["read", path("/etc/hosts"), "ask", "ask", "allow"],
    ["write", path("/etc/hosts"), "ask", "ask", "deny"],
    ["read", path("/home/me/.ssh/id_rsa"), "deny", "deny", "deny"],
    ["read", path("/home/me/.tau/skills/x"), "ask", "ask", "deny"],
    ["write", path("/src/app/.git/hooks/pre-commit"), "ask", "ask", "deny"],
    ["exec", command("npm test"), "ask", "allow", "allow"],
    ["exec", command("ls -la src"), "allow", "allow", "allow"],
    ["exec", command("ls > list.txt"), "ask", "allow", "allow"],
    ["exec", command("git diff --output=x"), "ask", "allow", "allow"],
    ["exec", command("sudo rm x"), "ask", "ask", "allow"],
    ["exec", command("rm -rf /"), "deny", "deny", "deny"],
    ["env", { kind: "name", name: "GITHUB_TOKEN" }, "ask", "ask", "deny"],
  ])("%s %j: %s, %s, %s", async (capability, target, ...expected) => {
    const verdicts = await Promise.all(
      (["ask", "edit", "free"] as const).map((mode) => decide(mode)(capability, target)),
    );
    expect(verdicts).toEqual(expected);
  });

  test("without a sandbox, free asks as edit does", async () => {
    const isSandboxed = async () => false;
    const free = decide("free", { isSandboxed });
    expect(await free("exec", command("sudo rm x"))).toBe("ask");
    expect(await free("read", path("/etc/hosts"))).toBe("ask");
    expect(await free("exec", command("rm -rf /"))).toBe("deny");
  });

  test("in the mode ask, what a pattern of the user's names is not asked about, but what is written beside it is", async () => {
    const getPolicy = () => resolvePolicy({ execMediation: { allowPatterns: ["npm run *"] } });
    const ask = decide("ask", { getPolicy });
    expect(await ask("exec", command("npm run build"))).toBe("allow");
    expect(await ask("exec", command("npm run build > log"))).toBe("ask");
    expect(await ask("exec", command("npm run build && npm install"))).toBe("ask");
  });

  test("free does not let commands out through a host that was granted for something else", async () => {
    const granted = { getNetwork: () => ({ allow: ["github.com"] }) };
    expect(await decide("edit", granted)("exec", command("git push"))).toBe("ask");
    expect(await decide("free", granted)("exec", command("git push"))).toBe("deny");
    const getPolicy = () => resolvePolicy({ execMediation: { allowPatterns: ["git push *"] } });
    expect(await decide("free", { ...granted, getPolicy })("exec", command("git push origin main"))).toBe("allow");
  });

  test("a shell that is not known is not trusted in the mode free either", async () => {
    expect(await decide("free", { shell: "/usr/bin/fish" })("exec", command("ls"))).toBe("deny");
  });
});

test.each<[mode: PermissionMode, unknown: Verdict["kind"], destructive: Verdict["kind"]]>([
  ["ask", "ask", "ask"],
  ["edit", "allow", "ask"],
  ["free", "allow", "deny"],
])("in the mode %s a call of unknown effect is %s, and one that destroys is %s", (mode, unknown, destructive) => {
  const allow: Verdict = { kind: "allow", rule: "default" };
  expect(applyRisk(mode, undefined, allow)).toBe(allow);
  expect(applyRisk(mode, "unknown", allow).kind).toBe(unknown);
  expect(applyRisk(mode, "destructive", allow).kind).toBe(destructive);
  const deny: Verdict = { kind: "deny", rule: "default", reason: "No." };
  expect(applyRisk(mode, "destructive", deny)).toBe(deny);
});

test.each([
  ["plan", "ask"],
  ["ask", "ask"],
  ["edit", "ask"],
  ["free", "deny"],
] as const)("in %s, what must be asked each time is asked each time, or not done", (mode, kind) => {
  const allow: Verdict = { kind: "allow", rule: "default" };
  const deny: Verdict = { kind: "deny", rule: "plan", reason: "No." };
  expect(applyEachTime(mode, undefined, allow)).toBe(allow);
  expect(applyEachTime(mode, "It posts x.", deny)).toBe(deny);
  expect(applyEachTime(mode, "It posts x.", allow)).toMatchObject({
    kind,
    rule: "each-time",
    reason: expect.stringMatching(/^It posts x\./) as string,
    ...(kind === "ask" && { asksEachTime: true }),
  });
  const asked = applyEachTime(mode, "It posts x.", { kind: "ask", rule: "host", reason: "A host." });
  expect(asked).toMatchObject({ kind, reason: expect.stringMatching(/^It posts x\. A host\./) as string });
});
