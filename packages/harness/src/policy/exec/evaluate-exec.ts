/** Classifies a program and applies the policy. It loads the parser of shell code, so import it with the first command. */
import { homedir } from "node:os";
import type { ExecContext } from "./classification.ts";
import { classifyArgv } from "./classify-command.ts";
import { type ExecMediationPolicy, type ExecMediationResult, type ExecSituation, mediate } from "./mediation.ts";

/**
 * Judges a program with its arguments. Without a situation a person can be asked and there is no sandbox; without a
 * context paths are compared with the directories of this process.
 */
export function evaluateExecMediation(
  policy: ExecMediationPolicy,
  cmd: string,
  args: readonly string[],
  {
    context = getProcessContext(),
    attended = true,
    sandboxed = false,
  }: Partial<ExecSituation> & { context?: ExecContext } = {},
): ExecMediationResult {
  if (!policy.enabled) return { kind: "allow" };
  return mediate(policy, classifyArgv(cmd, args, context), { attended, sandboxed });
}

const getProcessContext = (): ExecContext => ({ cwd: process.cwd(), home: homedir(), workspace: process.cwd() });
