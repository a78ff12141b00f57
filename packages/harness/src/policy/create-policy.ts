/**
 * The policy of a session, for every kind of request: what extensions may do, which paths are open, which secrets commands
 * get, and what commands do.
 */
import { basename } from "node:path";
import { createDefaultPolicy } from "./default-policy.ts";
import type { ExecContext } from "./exec/classification.ts";
import type { ExecMediationResult } from "./exec/mediation.ts";
import { evaluateFor, type ExtensionPolicy } from "./extension-policy.ts";
import type { PathRules } from "./paths.ts";
import type { Decide, PolicyRequest, Verdict } from "./policy.ts";
import type { SecretBroker } from "./secret-broker.ts";

export interface PolicyParts {
  rules: PathRules;
  /** Read for each request: settings change. */
  getPolicy: () => ExtensionPolicy;
  secrets: Pick<SecretBroker, "classify">;
  /** Where commands run, and what they may change. */
  context: ExecContext;
  /** Whether the sandbox holds the commands of this session. */
  isSandboxed: () => Promise<boolean>;
  /** The shell that runs commands, if the user chose one. */
  getShell: () => string | undefined;
}

export function createPolicy(parts: PolicyParts): Decide {
  const decidePath = createDefaultPolicy(parts.rules);
  return async (request) => {
    const { subject, capability, target } = request;
    if (subject.kind === "extension") {
      const verdict = judgeExtension(request, parts.getPolicy());
      if (verdict) return verdict;
    }
    if (capability === "exec" && target.kind === "command") return await judgeCommand(target.command, parts);
    if (capability === "env" && target.kind === "name") return judgeSecret(target.name, parts.secrets);
    return decidePath(request);
  };
}

/** Undefined if the extension has the capability: then the other rules count for it as for the model. */
function judgeExtension({ subject, capability }: PolicyRequest, policy: ExtensionPolicy): Verdict | undefined {
  const name = subject.kind === "extension" ? subject.name : "";
  const { decision, reason: step } = evaluateFor(capability, name, policy);
  if (decision === "allow") return undefined;
  const rule = `capability:${step}`;
  if (decision === "prompt") return { kind: "ask", rule, reason: `The extension ${name} wants to use ${capability}.` };
  return { kind: "deny", rule, reason: `Capability '${capability}' denied by policy (${step}).` };
}

function judgeSecret(name: string, secrets: PolicyParts["secrets"]): Verdict {
  switch (secrets.classify(name)) {
    case "own":
      return { kind: "deny", rule: "own-key", reason: `${name} holds a key that tau itself uses. No command gets it.` };
    case "secret":
      return { kind: "ask", rule: "secret", reason: `The command uses ${name}, a secret in the user's environment.` };
    case "disclosed":
      return { kind: "allow", rule: "disclosed" };
    case "none":
      return { kind: "allow", rule: "no-secret" };
  }
}

/** Shells whose language the classifier knows. */
const knownShells = /^(?:ba|da|a|k|z)?sh$/;

async function judgeCommand(command: string, parts: PolicyParts): Promise<Verdict> {
  const policy = parts.getPolicy().execMediation;
  // Loaded with the first command: it brings a parser.
  const { classifyCommand } = await import("./exec/classify-command.ts");
  const { mediate } = await import("./exec/mediation.ts");
  const classification = classifyCommand(command, parts.context);
  const { tier, class: found, reason, commands } = classification;
  const exec = { tier, class: found, reason, commands };
  const sandboxed = await parts.isSandboxed();
  // Whether a person is there is the judge's business: without one, a question is a denial.
  const result = mediate(policy, classification, { attended: true, sandboxed });
  const verdict = toVerdict(result);
  const shell = parts.getShell();
  if (verdict.kind === "allow" && shell !== undefined && !knownShells.test(basename(shell)))
    return { kind: "ask", rule: "unknown-shell", reason: `It is not known what ${shell} makes of this command.`, exec };
  return { ...verdict, exec };
}

function toVerdict(result: ExecMediationResult): Verdict {
  if (result.kind === "allow") return { kind: "allow", rule: "exec" };
  const rule = `exec:${result.class ?? "pattern"}`;
  if (result.kind === "allow_with_audit") return { kind: "allow", rule, isAudited: true };
  return { kind: result.kind, rule, reason: result.reason };
}
