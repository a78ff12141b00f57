/** Writes decisions to the session's log. */
import type { Audit, Decision, PolicyRequest } from "./policy.ts";

/** The type of the custom entries. Their data is a `Decision`. */
export const decisionType = "tau.decision";

const maxCharacters = 2_000;

/**
 * Writes denials, and permissions that a person gave. What the policy allows by itself is not written: the call itself is
 * in the log. Rejects when `append` does. Long texts are cut at 2,000 characters.
 */
export function createAudit(append: (customType: string, data: unknown) => Promise<unknown>): Audit {
  return async (decision) => {
    if (isWorthWriting(decision)) await append(decisionType, toEntry(decision));
  };
}

const isWorthWriting = ({ outcome, by }: Decision) => outcome === "denied" || by !== undefined;

function toEntry(decision: Decision): Decision {
  const { request, reason } = decision;
  return {
    ...decision,
    request: { ...request, target: getTarget(request) },
    ...(reason !== undefined && { reason: cut(reason) }),
  };
}

function getTarget({ target }: PolicyRequest): PolicyRequest["target"] {
  return target.kind === "command" ? { kind: "command", command: cut(target.command) } : target;
}

const cut = (text: string) => (text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text);
