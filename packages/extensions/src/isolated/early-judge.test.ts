import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import type { AccessRequest } from "@tau/tools";
import { expect, onTestFinished, test } from "vitest";
import { type PolicyInput, resolvePolicy, type Decision } from "@tau/policy";
import { createRememberedRules } from "@tau/policy/internal";
import { createEarlyJudge } from "./early-judge.ts";

const signal = new AbortController().signal;
const host = (name: string): AccessRequest => ({ capability: "http", target: { kind: "host", host: name } });

async function judgeAll(access: AccessRequest[], policy: PolicyInput = {}) {
  const agentDir = mkdtempSync(join(tmpdir(), "tau-early-"));
  onTestFinished(() => rmSync(agentDir, { recursive: true }));
  const remembered = createRememberedRules({ agentDir, cwd: "/project", ids: systemIds });
  const elsewhere = createRememberedRules({ agentDir, cwd: "/elsewhere", ids: systemIds });
  await remembered.add("always", host("always.example.com"));
  await remembered.add("project", host("project.example.com"));
  await elsewhere.add("project", host("elsewhere.example.com"));
  const decisions: Decision[] = [];
  const judge = createEarlyJudge({
    extension: "one",
    getPolicy: () => resolvePolicy(policy),
    remembered,
    audit: (decision) => void decisions.push(decision),
  });
  const reason = await judge({ id: "1", method: "call", args: [], access, summary: "" }, signal);
  return { reason, decisions };
}

test.each<[string, AccessRequest[], "allowed" | "denied"]>([
  ["a host, where http is given", [host("example.com")], "allowed"],
  ["events", [{ capability: "events", target: { kind: "name", name: "x" } }], "allowed"],
  ["a variable, which the profile denies", [{ capability: "env", target: { kind: "name", name: "HOME" } }], "denied"],
  ["a path, whatever the profile gives", [{ capability: "read", target: { kind: "path", path: "/etc/x" } }], "denied"],
  ["a command", [{ capability: "exec", target: { kind: "command", command: "ls" } }], "denied"],
  [
    "one thing that is denied among others",
    [host("x.org"), { capability: "write", target: { kind: "path", path: "/x" } }],
    "denied",
  ],
])("while extensions load, %s is judged by the policy alone, and written down", async (_what, access, outcome) => {
  const { reason, decisions } = await judgeAll(access);
  expect(reason === undefined).toBe(outcome === "allowed");
  expect(decisions.map((decision) => decision.outcome)).toEqual([outcome]);
  expect(decisions[0]).toMatchObject({ request: { subject: { kind: "extension", name: "one" } } });
});

const asking: PolicyInput = { mode: "prompt", defaultCaps: ["read"] };

test.each<[string, PolicyInput, string | undefined, string]>([
  ["always.example.com", asking, undefined, "remembered"],
  ["project.example.com", asking, undefined, "remembered"],
  ["elsewhere.example.com", asking, "Nobody can be asked about http elsewhere.example.com", "loading"],
  ["example.com", asking, "Nobody can be asked about http example.com", "loading"],
  ["example.com.evil.org", asking, "Nobody can be asked", "loading"],
  ["always.example.com", { ...asking, denyCaps: ["http"] }, "denied by policy (deny_caps)", "capability:deny_caps"],
  [
    "always.example.com",
    { ...asking, perExtension: { one: { deny: ["http"] } } },
    "denied by policy (extension_deny)",
    "capability:extension_deny",
  ],
  ["always.example.com", { ...asking, mode: "strict" }, "denied by policy (mode)", "capability:mode"],
])("where the policy asks, hosts that the user allowed before count: %s", async (name, policy, expected, rule) => {
  const { reason, decisions } = await judgeAll([host(name)], policy);
  if (expected === undefined) expect(reason).toBeUndefined();
  else expect(reason).toContain(expected);
  expect(decisions).toMatchObject([{ rule, outcome: expected === undefined ? "allowed" : "denied" }]);
});
