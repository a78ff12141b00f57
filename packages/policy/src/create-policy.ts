/**
 * The policy of a session, for every kind of request: what extensions may do, which paths are open, which secrets commands
 * get, and what commands do.
 */
import { basename } from "node:path";
import { createDefaultPolicy } from "./default-policy.ts";
import type { Classification, ExecContext } from "./exec/classification.ts";
import type { ExecMediationPolicy, ExecMediationResult } from "./exec/mediation.ts";
import { evaluateFor, type ExtensionPolicy, getSecretFiles } from "./extension-policy.ts";
import type { SandboxNetwork } from "@tau/sandbox";
import type { WritingMode } from "@tau/protocol";
import { judgeHost } from "./judge-host.ts";
import type { PathRules } from "./paths.ts";
import { applyPermissionMode, needsSandboxState } from "./permission-mode.ts";
import type { Decide, PolicyRequest, Verdict } from "./policy.ts";
import { isNamedFor, isProjectSecret, projectSecretReason } from "@tau/sandbox/internal";
import type { SecretBroker } from "./secrets/secret-broker.ts";
import { describeTaint, findNetworkProgram, type Taint } from "./taint.ts";

export interface PolicyParts {
  rules: PathRules;
  /** Read for each request: settings change. */
  getPolicy: () => ExtensionPolicy;
  /** Read for each request: a person may change it at any time. */
  getMode: () => WritingMode;
  secrets: Pick<SecretBroker, "classify" | "isIn" | "listGiven">;
  /** Where commands run, and what they may change. */
  context: ExecContext;
  /** Whether the sandbox holds the commands of this session. */
  isSandboxed: () => Promise<boolean>;
  /** Returns the network that the sandbox lets through, where it applies. */
  getNetwork: () => SandboxNetwork;
  /** Real paths beside the workspace that the sandbox lets commands change, because a person or a setting granted them. */
  getGrantedPaths: () => readonly string[];
  /** Why a command may do what a stranger wants; undefined if no text of strangers came in. */
  getTaint: () => Promise<Taint | undefined>;
  /** The shell that runs the commands of this session, if the user chose one. */
  shell: string | undefined;
}

export function createPolicy(parts: PolicyParts): Decide {
  const decideAlone = createPolicyWithoutMode(parts);
  const { agentDir } = parts.rules;
  return async (request) => {
    const verdict = await decideAlone(request);
    const mode = parts.getMode();
    const isSandboxed = needsSandboxState(mode, verdict) && (await parts.isSandboxed());
    return applyPermissionMode(mode, { request, verdict }, { isSandboxed, agentDir });
  };
}

function createPolicyWithoutMode(parts: PolicyParts): Decide {
  const decidePath = createDefaultPolicy(parts.rules);
  return async (request) => {
    const { subject, capability, target } = request;
    if (subject.kind === "extension") {
      const policy = parts.getPolicy();
      const verdict = judgeExtension(request, policy);
      if (verdict) return verdict;
      const secretFile = judgeSecretFile(request, policy);
      if (secretFile) {
        // A credential is denied as one: no setting opens it by its name.
        const decided = decidePath(request);
        return decided.kind === "deny" ? decided : secretFile;
      }
    }
    if (capability === "exec" && target.kind === "command") return await judgeCommand(target.command, subject, parts);
    if (capability === "env" && target.kind === "name") return await judgeSecret(target.name, parts);
    if (capability === "http" && target.kind === "host" && subject.kind !== "extension")
      return judgeHost(target.host, request, { secrets: parts.secrets, network: parts.getNetwork() });
    return decidePath(request);
  };
}

/** Undefined if the extension has the capability: then the other rules apply to it as to the model. */
function judgeExtension({ subject, capability }: PolicyRequest, policy: ExtensionPolicy): Verdict | undefined {
  const name = subject.kind === "extension" ? subject.name : "";
  const { decision, reason: step } = evaluateFor(capability, name, policy);
  if (decision === "allow") return undefined;
  const rule = `capability:${step}`;
  if (decision === "prompt") return { kind: "ask", rule, reason: `The extension ${name} wants to use ${capability}.` };
  return { kind: "deny", rule, reason: `Capability '${capability}' denied by policy (${step}).` };
}

/** Reading and writing alike: what is moved to another name could be read there. Undefined for other files. */
function judgeSecretFile({ subject, target }: PolicyRequest, policy: ExtensionPolicy): Verdict | undefined {
  if (subject.kind !== "extension" || target.kind !== "path" || !isProjectSecret(target.path)) return undefined;
  if (isNamedFor(target.path, getSecretFiles(policy, subject.name))) return undefined;
  return { kind: "deny", rule: "project-secret", reason: projectSecretReason(target.path) };
}

async function judgeSecret(name: string, parts: PolicyParts): Promise<Verdict> {
  switch (parts.secrets.classify(name)) {
    case "own":
      return { kind: "deny", rule: "own-key", reason: `${name} holds a key that tau itself uses. No command gets it.` };
    case "secret":
      return askAgain(
        { kind: "ask", rule: "secret", reason: `The command uses ${name}, a secret in the user's environment.` },
        await parts.getTaint(),
      );
    case "disclosed":
      return { kind: "allow", rule: "disclosed" };
    case "none":
      return { kind: "allow", rule: "no-secret" };
  }
}

/**
 * Asks again after text of strangers about what a person allowed before they could know of it. For secrets that applies
 * without a network too: one command could keep or print what another one sends.
 */
function askAgain(verdict: Extract<Verdict, { kind: "ask" }>, taint: Taint | undefined): Verdict {
  if (!taint) return verdict;
  const reason = `${verdict.reason} Nothing that was allowed before counts, since ${describeTaint(taint)}.`;
  return { ...verdict, reason, asksEachTime: true };
}

/** Shells whose language the classifier knows. */
const knownShells = /^(?:ba|da|a|k|z)?sh$/;

async function judgeCommand(command: string, subject: PolicyRequest["subject"], parts: PolicyParts): Promise<Verdict> {
  const policy = parts.getPolicy().execMediation;
  // Loaded with the first command: it brings a parser.
  const { classifyCommand } = await import("./exec/classify-command.ts");
  const { mediate } = await import("./exec/mediation.ts");
  const { withDiskLinks } = await import("./exec/disk-links.ts");
  const sandboxed = await parts.isSandboxed();
  const reach = { network: parts.getNetwork(), paths: parts.getGrantedPaths() };
  // The sandbox holds what is written through a link, unless the link leads to something that is granted.
  const isHeld = sandboxed && reach.paths.length === 0;
  const classification = classifyCommand(command, isHeld ? parts.context : withDiskLinks(parts.context));
  const { findings: _findings, ...exec } = classification;
  const secretFile = subject.kind === "extension" ? findSecretFile(classification, subject.name, parts) : undefined;
  if (secretFile !== undefined)
    return { kind: "deny", rule: "project-secret", reason: projectSecretReason(secretFile), exec };
  // Whether a person is there is the judge's business: without one, a question is a denial.
  const result = mediate(policy, classification, { attended: true, sandboxed, reach });
  const verdict = await judgeSending(command, { verdict: toVerdict(result), classification }, parts);
  const { shell } = parts;
  if (verdict.kind === "allow" && shell !== undefined && !knownShells.test(basename(shell)))
    return { kind: "ask", rule: "unknown-shell", reason: `It is not known what ${shell} makes of this command.`, exec };
  if (verdict.kind === "allow" && (await isNamed(policy, classification, command)))
    return { ...verdict, exec, isNamed: true };
  return { ...verdict, exec };
}

/** A file with secrets that a command names. What a program reads without having its name in the command is not seen. */
function findSecretFile({ commands }: Classification, extension: string, parts: PolicyParts): string | undefined {
  const allowed = getSecretFiles(parts.getPolicy(), extension);
  const words = commands.flat().flatMap((word) => word.split(/[\s=:;,'"()<>|&]+/));
  return words.find((word) => word !== "" && isProjectSecret(word) && !isNamedFor(word, allowed));
}

/** Whether the user's patterns name all commands, and nothing else was found around them. */
async function isNamed(
  { allowPatterns }: ExecMediationPolicy,
  { commands, findings }: Classification,
  text: string,
): Promise<boolean> {
  // A redirection may change any file of the workspace without being found dangerous.
  if (allowPatterns.length === 0 || commands.length === 0 || /[<>]/.test(text)) return false;
  const { isAllowedBy } = await import("./exec/patterns.ts");
  if (findings.some(({ command }) => command === null)) return false;
  return commands.every((command) => isAllowedBy(allowPatterns, command));
}

/** After text of strangers came in, secrets and files leave the machine only if a person says so each time. */
async function judgeSending(
  command: string,
  { verdict, classification }: { verdict: Verdict; classification: Classification },
  parts: PolicyParts,
): Promise<Verdict> {
  if (verdict.kind === "deny" || findNetworkProgram(classification, command) === undefined) return verdict;
  const isClosed = parts.getNetwork() === "none" && (await parts.isSandboxed());
  const taint = isClosed ? undefined : await parts.getTaint();
  if (!taint) return verdict;
  const sendsFile = classification.findings.some((each) => each.class === "exfiltration" && each.tier === "high");
  if (verdict.kind === "ask" && sendsFile) return askAgain(verdict, taint);
  // What was analysed has in it what the text hides.
  const texts = [command, ...classification.commands.flat()];
  if (!texts.some((text) => parts.secrets.isIn(text))) return verdict;
  return askAgain({ kind: "ask", rule: "taint", reason: "The command has a secret in its text." }, taint);
}

function toVerdict(result: ExecMediationResult): Verdict {
  if (result.kind === "allow") return { kind: "allow", rule: "exec" };
  const rule = `exec:${result.class ?? "pattern"}`;
  if (result.kind === "allow_with_audit") return { kind: "allow", rule, isAudited: true };
  if (result.kind === "ask") return { kind: "ask", rule, reason: result.reason };
  // The reason alone says what the command does, as if it had been done.
  return { kind: "deny", rule, reason: `The policy denied this command, and it was not run. ${result.reason}` };
}
