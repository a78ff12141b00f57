/** Classifies a program and applies the policy. It loads the parser of shell code, so import it with the first command. */
import { homedir } from "node:os";
import type { SnakeCase } from "../snake-case.ts";
import { resolvePolicy } from "../extension-policy.ts";
import type { ExecContext } from "./classification.ts";
import { classifyArgv } from "./classify-command.ts";
import { withDiskLinks } from "./disk-links.ts";
import { type ExecMediationPolicy, type ExecMediationResult, type ExecSituation, mediate } from "./mediation.ts";

/**
 * Judges a program with its arguments. What the policy leaves out has its default, and its names may be in snake_case. Without a
 * situation a person can be asked and there is no sandbox; without a context paths are compared with the directories of this process.
 */
export function evaluateExecMediation(
  policy: Partial<ExecMediationPolicy> | SnakeCase<Partial<ExecMediationPolicy>>,
  cmd: string,
  args: readonly string[],
  {
    context = getProcessContext(),
    attended = true,
    sandboxed = false,
  }: Partial<ExecSituation> & { context?: ExecContext } = {},
): ExecMediationResult {
  const { execMediation } = resolvePolicy({ execMediation: policy });
  if (!execMediation.enabled) return { kind: "allow" };
  return mediate(execMediation, classifyArgv(cmd, args, context), { attended, sandboxed });
}

const getProcessContext = (): ExecContext =>
  withDiskLinks({ cwd: process.cwd(), home: homedir(), workspace: process.cwd() });
