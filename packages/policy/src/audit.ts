/** Writes decisions to the session's log, and to the ledger. */
import type { LedgerFact } from "./ledger.ts";
import type { Audit, Decision } from "./policy.ts";

/** The type of the custom entries. Their data is a `Decision`. */
const decisionType = "tau.decision";

const maxCharacters = 2_000;

interface AuditParts {
  sessionId: string;
  /** To the session's log. */
  append: (customType: string, data: unknown) => Promise<unknown>;
  /** To the ledger. */
  record: (fact: LedgerFact) => Promise<void>;
}

/**
 * Writes denials, permissions that a person gave, and dangerous commands that the policy allows. What it allows besides is
 * not written: the call itself is in the log. Rejects when a port does. Long texts are cut at 2,000 characters.
 */
export function createAudit({ sessionId, append, record }: AuditParts): Audit {
  return async (decision) => {
    const { outcome, by, request, reason, isAudited = false } = decision;
    if (outcome === "allowed" && by === undefined && !isAudited) return;
    await record(await toFact(decision, sessionId));
    const { target } = request;
    const shortTarget = target.kind === "command" ? { ...target, command: cut(target.command) } : target;
    const { commands: _commands, ...exec } = decision.exec ?? {};
    await append(decisionType, {
      ...decision,
      request: { ...request, target: shortTarget },
      ...(decision.exec && { exec }),
      ...(reason !== undefined && { reason: cut(reason) }),
    });
  };
}

/** Loaded late: most sessions deny nothing. */
async function toFact(decision: Decision, sessionId: string): Promise<LedgerFact> {
  const { hashForLedger } = await import("./ledger.ts");
  const { toolCallId, toolName, request, rule, outcome, by, exec } = decision;
  const { subject, capability, target } = request;
  return {
    event: "decision",
    sessionId,
    toolCallId,
    toolName,
    subject: subject.kind,
    capability,
    target: hashForLedger(target),
    rule,
    outcome,
    by,
    class: exec?.class ?? undefined,
    dangerousCommandClass: exec?.dangerousCommandClass ?? undefined,
    tier: exec?.tier,
  };
}

const cut = (text: string) => (text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text);
