/** Decisions in the session's log. */
import type { Audit, Decision, PolicyRequest } from "./policy.ts";

/** The type of the custom entries. Their data is a `Decision`. */
export const decisionType = "tau.decision";

const maxCharacters = 2_000;

/**
 * Writes down what was denied, and what was allowed by somebody who was asked. What the policy allows by itself is not
 * written: the call itself is in the log. Rejects when `append` does. Long texts are cut at 2,000 characters.
 */
export function createAudit(append: (customType: string, data: unknown) => Promise<unknown>): Audit {
  return async (decision) => {
    if (isWorthWriting(decision)) await append(decisionType, written(decision));
  };
}

const isWorthWriting = ({ outcome, by }: Decision) => outcome === "denied" || by !== undefined;

function written(decision: Decision): Decision {
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
