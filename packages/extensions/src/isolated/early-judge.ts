/**
 * Judges hostcalls while extensions load, when there is no session yet. Nobody can be asked, and neither paths nor commands
 * can be judged: what applies is what the policy gives the extension as a whole, and what the user allowed before, such as
 * requests to a host.
 */
import type { AccessRequest } from "@tau/tools";
import { evaluateFor, type ExtensionPolicy, type Audit, formatRule } from "@tau/policy";
import type { RememberedRules } from "@tau/policy/internal";
import type { HostcallJudge } from "./ports.ts";

interface EarlyJudgeParts {
  extension: string;
  getPolicy: () => ExtensionPolicy;
  /** The rules that the user allowed for the project, or for good. */
  remembered: Pick<RememberedRules, "covers">;
  /** May keep the decision until there is a session. */
  audit: Audit;
}

type EarlyVerdict = { kind: "allowed"; rule: string } | { kind: "denied"; rule: string; reason: string };

export function createEarlyJudge(parts: EarlyJudgeParts): HostcallJudge["judge"] {
  const { extension, audit } = parts;
  return async ({ id, method, access }) => {
    const judged: { request: AccessRequest; verdict: EarlyVerdict }[] = [];
    for (const request of access) judged.push({ request, verdict: await judgeEarly(request, method, parts) });
    const denied = judged.find(({ verdict }) => verdict.kind === "denied");
    for (const { request, verdict } of denied ? [denied] : judged) {
      const { capability, target } = request;
      await audit({
        toolCallId: id,
        toolName: `${extension}: ${method}`,
        request: { subject: { kind: "extension", name: extension }, capability, target },
        rule: verdict.rule,
        outcome: verdict.kind,
        ...(verdict.kind === "denied" && { reason: verdict.reason }),
      });
    }
    return denied?.verdict.kind === "denied" ? denied.verdict.reason : undefined;
  };
}

async function judgeEarly(
  { capability, target }: AccessRequest,
  method: string,
  { extension, getPolicy, remembered }: EarlyJudgeParts,
): Promise<EarlyVerdict> {
  const later = `Call ${method} in a handler of session_start instead.`;
  const { decision, reason: step } = evaluateFor(capability, extension, getPolicy());
  if (decision === "deny")
    return {
      kind: "denied",
      rule: `capability:${step}`,
      reason: `Capability '${capability}' denied by policy (${step}).`,
    };
  if (target.kind === "path" || target.kind === "command")
    return {
      kind: "denied",
      rule: "loading",
      reason: `${method} can be used once the session has begun, not while extensions load. ${later}`,
    };
  if (decision === "allow") return { kind: "allowed", rule: "loading" };
  if (await remembered.covers(capability, target)) return { kind: "allowed", rule: "remembered" };
  const wish = formatRule({ capability, target });
  return {
    kind: "denied",
    rule: "loading",
    reason: `Nobody can be asked about ${wish} while extensions load. ${later}`,
  };
}
