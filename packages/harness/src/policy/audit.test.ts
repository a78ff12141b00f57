import { expect, test } from "vitest";
import { createAudit } from "./audit.ts";
import type { Decision } from "./policy.ts";

const decision = (parts: Partial<Decision>): Decision => ({
  toolCallId: "c1",
  toolName: "bash",
  request: {
    subject: { kind: "model", sessionId: "s" },
    capability: "exec",
    target: { kind: "command", command: "make" },
  },
  rule: "outside",
  outcome: "allowed",
  ...parts,
});

function written() {
  const entries: { customType: string; data: unknown }[] = [];
  const audit = createAudit(async (customType, data) => entries.push({ customType, data }));
  return { entries, audit };
}

test("what was denied, and what somebody was asked for, is written as it was decided", async () => {
  const { entries, audit } = written();
  const [denied, asked] = [decision({ outcome: "denied", reason: "no" }), decision({ by: "person" })];
  await audit(denied);
  await audit(asked);
  expect(entries).toEqual([
    { customType: "tau.decision", data: denied },
    { customType: "tau.decision", data: asked },
  ]);
});

test("what the policy allows by itself is not written", async () => {
  const { entries, audit } = written();
  await audit(decision({}));
  expect(entries).toEqual([]);
});

test("commands and reasons are cut at 2,000 characters, and the decision itself is not changed", async () => {
  const { entries, audit } = written();
  const command = "x".repeat(2_001);
  const long = decision({ outcome: "denied", reason: command });
  long.request.target = { kind: "command", command };
  await audit(long);
  const cut = `${"x".repeat(1_999)}…`;
  expect(entries[0]?.data).toMatchObject({ reason: cut, request: { target: { kind: "command", command: cut } } });
  expect(long.request.target).toEqual({ kind: "command", command });
});

test("a log that refuses makes the audit fail", async () => {
  const audit = createAudit(() => Promise.reject(new Error("no space left")));
  await expect(audit(decision({ outcome: "denied" }))).rejects.toThrow("no space left");
});
