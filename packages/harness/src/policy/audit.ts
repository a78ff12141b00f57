/** Writes decisions to the session's log. */
import type { Audit } from "./policy.ts";

/** The type of the custom entries. Their data is a `Decision`. */
export const decisionType = "tau.decision";

const maxCharacters = 2_000;

/**
 * Writes denials, and permissions that a person gave. What the policy allows by itself is not written: the call itself is
 * in the log. Rejects when `append` does. Long texts are cut at 2,000 characters.
 */
export function createAudit(append: (customType: string, data: unknown) => Promise<unknown>): Audit {
  return async (decision) => {
    const { outcome, by, request, reason } = decision;
    if (outcome === "allowed" && by === undefined) return;
    const { target } = request;
    const shortTarget = target.kind === "command" ? { ...target, command: cut(target.command) } : target;
    const short = { ...request, target: shortTarget };
    await append(decisionType, { ...decision, request: short, ...(reason !== undefined && { reason: cut(reason) }) });
  };
}

const cut = (text: string) => (text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text);
