import { expect, test } from "vitest";
import { createAudit } from "./audit.ts";
import type { LedgerFact } from "./ledger.ts";
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
  const facts: LedgerFact[] = [];
  const audit = createAudit({
    sessionId: "s",
    append: async (customType, data) => entries.push({ customType, data }),
    record: async (fact) => void facts.push(fact),
  });
  return { entries, facts, audit };
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
  const append = () => Promise.reject(new Error("no space left"));
  const audit = createAudit({ sessionId: "s", append, record: async () => {} });
  await expect(audit(decision({ outcome: "denied" }))).rejects.toThrow("no space left");
});

test("the ledger gets hashes of what was asked for, not the text", async () => {
  const { facts, entries, audit } = written();
  const request = decision({}).request;
  const secret = { ...request, target: { kind: "command", command: "deploy --password hunter2" } } as const;
  await audit(decision({ outcome: "denied", reason: "no", request: secret }));
  await audit(
    decision({
      isAudited: true,
      exec: {
        class: "recursive_delete",
        dangerousCommandClass: "recursive_delete",
        tier: "medium",
        reason: "It deletes.",
        commands: [["rm", "hunter2"]],
      },
    }),
  );
  await audit(decision({}));
  expect(facts).toMatchObject([
    {
      event: "decision",
      sessionId: "s",
      toolName: "bash",
      outcome: "denied",
      target: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
    {
      outcome: "allowed",
      class: "recursive_delete",
      dangerousCommandClass: "recursive_delete",
      tier: "medium",
    },
  ]);
  expect(JSON.stringify(facts)).not.toContain("hunter2");
  expect(JSON.stringify(entries)).toContain('"dangerousCommandClass":"recursive_delete"');
  // The log has the call itself.
  expect(JSON.stringify(entries)).not.toContain('"commands"');
});

test("a decision that the ledger does not take is not written to the log either", async () => {
  const entries: unknown[] = [];
  const audit = createAudit({
    sessionId: "s",
    append: async (...entry) => entries.push(entry),
    record: () => Promise.reject(new Error("the disk is full")),
  });
  await expect(audit(decision({ outcome: "denied" }))).rejects.toThrow("the disk is full");
  expect(entries).toEqual([]);
});
