/** The restriction of plan mode, on top of everything else that decides: nothing can be written. */
import type { DescribedTool } from "@tau/tools";
import type { Decide, PolicyRequest, Verdict } from "./policy.ts";

/** The rule of what only plan mode denies or asks about. */
const planRule = "mode-plan";

/** For the model, after what was refused. */
const whatToDo = "Plan mode is on, and only the user can turn it off: read, and propose a plan.";

export const planWriteReason = (path: string): string => `Writing ${path} is not possible. ${whatToDo}`;

interface PlanFacts {
  /** Whether commands run in a sandbox in which they cannot change anything. */
  isSandboxed: boolean;
}

/** Restricts a verdict. What is denied or asked about without plan mode still is. Pure. */
export function applyPlanMode(
  { subject, capability, target }: PolicyRequest,
  verdict: Verdict,
  { isSandboxed }: PlanFacts,
): Verdict {
  if (verdict.kind === "deny") return verdict;
  const exec = verdict.exec && { exec: verdict.exec };
  const deny = (reason: string): Verdict => ({ kind: "deny", rule: planRule, reason, ...exec });
  // Any capability but reading may write too.
  if (target.kind === "path" && capability !== "read") return deny(planWriteReason(target.path));
  if (capability === "exec") {
    if (subject.kind !== "model" && subject.kind !== "child")
      return deny(`Only the model can run commands now, and they cannot change anything. ${whatToDo}`);
    if (!isSandboxed)
      return deny(`Commands cannot be run in plan mode without a sandbox, since they could write. ${whatToDo}`);
  }
  return verdict;
}

/** Decides as `decide` does, and in plan mode restricts that. */
export function withPlanMode(
  decide: Decide,
  { isPlanning, isSandboxed }: { isPlanning: () => boolean; isSandboxed: () => Promise<boolean> },
): Decide {
  return async (request, call) => {
    const verdict = await decide(request, call);
    if (!isPlanning()) return verdict;
    const needsSandbox = request.capability === "exec" && verdict.kind !== "deny";
    return applyPlanMode(request, verdict, { isSandboxed: needsSandbox && (await isSandboxed()) });
  };
}

/** Denies what is for a program that was started before, with the rights of then; see `AccessRequest.isForRunning`. Pure. */
export function denyForRunning(verdict: Verdict): Verdict {
  if (verdict.kind === "deny") return verdict;
  const reason = `A program that runs already may change something. ${whatToDo}`;
  return { kind: "deny", rule: planRule, reason, ...(verdict.exec && { exec: verdict.exec }) };
}

/**
 * Whether a tool may change something that neither its access nor the sandbox shows: code of an extension or a server that does
 * not say that it only reads.
 */
export const mayWriteUnseen = (tool: Pick<DescribedTool, "readOnly" | "isContained"> | undefined): boolean =>
  !tool?.readOnly && !tool?.isContained;

/** Asks for each call of such a tool, also if it was allowed before. Pure. */
export function askInPlanMode(verdict: Verdict): Verdict {
  if (verdict.kind === "deny") return verdict;
  const reason = verdict.kind === "ask" ? `${verdict.reason} ` : "";
  return {
    kind: "ask",
    rule: planRule,
    reason: `${reason}Plan mode is on, and this tool may change something.`,
    asksEachTime: true,
    ...(verdict.exec && { exec: verdict.exec }),
  };
}
