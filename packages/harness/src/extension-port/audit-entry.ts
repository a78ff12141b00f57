/** Writes down what an extension did without a question and without a call of the model. */
import type { AuditEntry } from "@tau/extensions";
import type { JudgeParts } from "@tau/policy/internal";

export async function auditEntry({ audit, ids, subject }: JudgeParts, entry: AuditEntry): Promise<void> {
  const rule = entry.name;
  if (entry.kind === "denied") {
    const { toolCallId, toolName, reason } = entry;
    const request = { subject, capability: "tool", target: { kind: "name", name: toolName } } as const;
    return await audit({ toolCallId, toolName, request, rule, outcome: "denied", by: entry.name, reason });
  }
  const { command, isSandboxed } = entry;
  const request = {
    subject: { kind: "extension", name: entry.name },
    capability: "exec",
    target: { kind: "command", command },
  } as const;
  const reason = isSandboxed ? "in the sandbox of the session" : "outside the sandbox";
  await audit({ toolCallId: ids(), toolName: entry.name, request, rule, outcome: "allowed", isAudited: true, reason });
}
