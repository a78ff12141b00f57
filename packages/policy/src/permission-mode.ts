/** Applies a permission mode to the policy's own verdict. Pure. */
import { isWithin } from "@tau/tools/platform";
import type { PermissionMode, WritingMode } from "@tau/protocol";
import type { AccessRequest } from "@tau/tools";
import type { ExecClass } from "./exec/classification.ts";
import { askInPlanMode } from "./plan-mode.ts";
import type { PolicyRequest, Verdict } from "./policy.ts";
import { onlyReads } from "./reading-commands.ts";

/** The facts that a mode depends on besides the request. */
interface ModeFacts {
  /** Whether the sandbox holds the commands of this session. */
  isSandboxed: boolean;
  /** tau's own directory, which commands in the sandbox do not see. */
  agentDir: string;
}

/** Whether `applyPermissionMode` needs to know if there is a sandbox; finding that out takes time. */
export const needsSandboxState = (mode: WritingMode, { kind }: Verdict): boolean => mode === "free" && kind === "ask";

/**
 * `ask` turns into a question what the policy allows and what changes something; `edit` leaves the verdict as it is; `free`
 * allows what would be asked if the sandbox holds it, and denies the rest instead of asking. What is denied stays denied.
 */
export function applyPermissionMode(
  mode: WritingMode,
  { request, verdict }: { request: PolicyRequest; verdict: Verdict },
  facts: ModeFacts,
): Verdict {
  switch (mode) {
    case "ask":
      return verdict.kind === "allow" ? askMore(request, verdict) : verdict;
    case "edit":
      return verdict;
    case "free":
      return verdict.kind === "ask" ? askNothing(request, verdict, facts) : verdict;
  }
}

function askMore({ capability, target }: PolicyRequest, verdict: Extract<Verdict, { kind: "allow" }>): Verdict {
  const { exec } = verdict;
  const facts = exec && { exec };
  if (target.kind === "path" && capability !== "read") {
    const reason = `It changes ${target.path}, and in the permission mode ask every change is asked about.`;
    return { kind: "ask", rule: askRule, reason, ...facts };
  }
  // What the user allowed by a pattern needs no other answer.
  if (target.kind !== "command" || verdict.isNamed || onlyReads(target.command)) return verdict;
  const reason = "In the permission mode ask every command that may change something is asked about.";
  return { kind: "ask", rule: askRule, reason, ...facts };
}

/** Makes a verdict stricter for a call of which a tool says that it may do more than its target shows; see `AccessRequest`. */
export function applyRisk(mode: PermissionMode, risk: AccessRequest["risk"], verdict: Verdict): Verdict {
  if (risk === undefined) return verdict;
  if (mode === "plan") return askInPlanMode(verdict);
  if (verdict.kind !== "allow") return verdict;
  if (mode === "ask") {
    const reason = "It may change something, and in the permission mode ask every change is asked about.";
    return { kind: "ask", rule: askRule, reason };
  }
  if (risk === "unknown") return verdict;
  const reason = "The tool is described as one that destroys something.";
  return mode === "edit"
    ? { kind: "ask", rule: riskRule, reason }
    : { kind: "deny", rule: riskRule, reason: `${reason} ${nothingIsAsked}` };
}

/** Asks a person each time about what a tool says that nobody else may decide; see `AccessRequest.eachTime`. */
export function applyEachTime(mode: PermissionMode, wish: string | undefined, verdict: Verdict): Verdict {
  if (wish === undefined || verdict.kind === "deny") return verdict;
  const reason = verdict.kind === "ask" ? `${wish} ${verdict.reason}` : wish;
  if (mode === "free") return { kind: "deny", rule: eachTimeRule, reason: `${reason} ${nothingIsAsked}` };
  return { ...verdict, kind: "ask", rule: eachTimeRule, reason, asksEachTime: true };
}

const eachTimeRule = "each-time";
const riskRule = "destructive";

/** The rule of a question that only the permission mode asks. */
export const askRule = "mode-ask";

/** Classes that are about credentials, or whose effect leaves the sandbox where it has a network. */
const neverFree: ReadonlySet<ExecClass> = new Set(["credential_change", "exfiltration", "reverse_shell"]);

function askNothing(request: PolicyRequest, verdict: Extract<Verdict, { kind: "ask" }>, facts: ModeFacts): Verdict {
  const { subject } = request;
  // What an extension may do is not the model's affair, and without a sandbox nothing holds what is allowed.
  if (!facts.isSandboxed || (subject.kind !== "model" && subject.kind !== "child")) return verdict;
  const { exec, reason } = verdict;
  const known = exec && { exec };
  if (isHeld(request, verdict, facts)) return { kind: "allow", rule: freeRule, isAudited: true, ...known };
  return { kind: "deny", rule: freeRule, reason: `${reason} ${nothingIsAsked}`, ...known };
}

const freeRule = "mode-free";

/** For the model, after what was denied. */
export const nothingIsAsked =
  "In the permission mode free nobody is asked, and this does not stay inside the sandbox, so it was not done. Continue without it, or say in your answer what you need it for.";

/** Whether all effects of a request stay in the sandbox, or what it reads can be read there too. */
function isHeld({ capability, target }: PolicyRequest, verdict: Extract<Verdict, { kind: "ask" }>, facts: ModeFacts) {
  if (target.kind === "path") {
    return capability === "read" && verdict.rule === "outside" && !isWithin(facts.agentDir, target.path);
  }
  // A command that was not classified, or that may send what a stranger asks for, could do anything.
  if (
    target.kind !== "command" ||
    capability !== "exec" ||
    verdict.asksEachTime ||
    !verdict.rule.startsWith("exec:") ||
    !verdict.exec
  ) {
    return false;
  }
  const { class: found, tier } = verdict.exec;
  // In a sandbox, commands of the tier medium are asked about only where a granted host or path lets them out.
  return tier === "high" && (found === null || !neverFree.has(found));
}
