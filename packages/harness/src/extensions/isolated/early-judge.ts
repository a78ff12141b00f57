/**
 * Judges hostcalls while extensions load, when there is no session yet. Nobody can be asked, and neither paths nor commands
 * can be judged: what goes on is what the policy gives the extension as a whole.
 */
import type { AccessRequest } from "@tau/tools";
import { evaluateFor, type ExtensionPolicy } from "../../policy/extension-policy.ts";
import type { Audit } from "../../policy/policy.ts";
import type { HostcallJudge } from "./ports.ts";

export interface EarlyJudgeParts {
  extension: string;
  getPolicy: () => ExtensionPolicy;
  /** May keep the decision until there is a session. */
  audit: Audit;
}

export const createEarlyJudge = ({ extension, getPolicy, audit }: EarlyJudgeParts): HostcallJudge["judge"] =>
  async function judge({ id, method, access }) {
    const policy = getPolicy();
    const isAllowed = ({ capability, target }: AccessRequest): boolean =>
      (target.kind === "name" || target.kind === "host") &&
      evaluateFor(capability, extension, policy).decision === "allow";
    const denied = access.find((request) => !isAllowed(request));
    const reason = denied && `${method} can be used once the session has begun, not while extensions load.`;
    for (const { capability, target } of denied ? [denied] : access) {
      await audit({
        toolCallId: id,
        toolName: `${extension}: ${method}`,
        request: { subject: { kind: "extension", name: extension }, capability, target },
        rule: "loading",
        outcome: denied ? "denied" : "allowed",
        ...(reason !== undefined && { reason }),
      });
    }
    return reason;
  };
