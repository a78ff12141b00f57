/** Decides whether a classified command may run: the policy of exec mediation, and the table of tiers. Pure. */
import {
  type Classification,
  compareTiers,
  type ExecClass,
  type ExecFinding,
  type ExecTier,
  findWorst,
} from "./classification.ts";
import type { SandboxNetwork } from "@tau/sandbox";
import type { DangerousCommandClass } from "./dangerous-class.ts";
import { isBelow } from "./paths.ts";
import { isAllowedBy, isDeniedBy } from "./patterns.ts";

export interface ExecMediationPolicy {
  /** Whether commands are judged at all. Default true. */
  enabled: boolean;
  /** This tier and higher ones are denied, also where a person could be asked. Default critical, which is always denied. */
  denyThreshold: ExecTier;
  /** Commands that are denied: the first words of a command, such as `git push`. Default none. */
  denyPatterns: readonly string[];
  /**
   * Commands that are allowed whatever their tier is, but for tier critical: all words of a command, or its first words
   * followed by `*`. They go before the deny patterns. Default none.
   */
  allowPatterns: readonly string[];
  /** Whether commands of a class that may run are audited. Default true. */
  auditAllClassified: boolean;
}

export const defaultExecMediation: ExecMediationPolicy = {
  enabled: true,
  denyThreshold: "critical",
  denyPatterns: [],
  allowPatterns: [],
  auditAllClassified: true,
};

export type ExecMediationResult =
  | { kind: "allow" }
  | {
      kind: "allow_with_audit" | "ask" | "deny";
      class: ExecClass | null;
      dangerousCommandClass: DangerousCommandClass | null;
      reason: string;
    };

/** The paths and hosts beside the workspace that commands in a sandbox can reach and change. */
interface SandboxReach {
  network: SandboxNetwork;
  /** Directories and files that somebody granted, as real paths. */
  paths: readonly string[];
}

export interface ExecSituation {
  /** Whether a person can answer a question. */
  attended: boolean;
  /** Whether the command runs in a sandbox that holds it. */
  sandboxed: boolean;
  /** The access that the sandbox lets through. Default: nothing. */
  reach?: SandboxReach;
}

interface TierSituation extends Pick<ExecSituation, "attended" | "sandboxed"> {
  denyThreshold: ExecTier;
  /** Whether it can reach what it changes outside of the sandbox. Default false. */
  reachesOutside?: boolean;
}

/** Decides by the tier alone. `denyThreshold` can only deny more. */
export function decideTier(
  tier: ExecTier,
  { attended, sandboxed, denyThreshold, reachesOutside = false }: TierSituation,
): ExecMediationResult["kind"] {
  if (tier === "critical") return "deny";
  if (compareTiers(tier, denyThreshold) >= 0 && tier !== "low") return "deny";
  switch (tier) {
    case "high":
      return attended ? "ask" : "deny";
    case "medium":
      return sandboxed && !reachesOutside ? "allow_with_audit" : attended ? "ask" : "deny";
    case "low":
      return "allow";
  }
}

/** Applies a policy to a command that is already classified. */
export function mediate(
  policy: ExecMediationPolicy,
  classification: Classification,
  situation: ExecSituation,
): ExecMediationResult {
  if (!policy.enabled) return { kind: "allow" };
  const { commands, findings, dangerousCommandClass } = classification;
  const isAllowed = commands.map((command) => isAllowedBy(policy.allowPatterns, command));
  const denied = commands.find((command, index) => !isAllowed[index] && isDeniedBy(policy.denyPatterns, command));
  const counted = findings.filter((finding) => !isCovered(finding, isAllowed));
  const { attended, sandboxed, reach } = situation;
  const reaching = reach && counted.find((finding) => finding.tier === "medium" && canReach(finding, reach));
  const gravest = findWorst(counted);
  // Of tier medium, what can be reached is what a person is asked about.
  const worst = gravest?.tier === "medium" ? (reaching ?? gravest) : gravest;
  const reason = worst?.reason ?? "";
  if (denied)
    return {
      kind: "deny",
      class: worst?.class ?? null,
      dangerousCommandClass,
      reason: `A deny pattern covers ${denied.join(" ")}.`,
    };
  const { denyThreshold } = policy;
  const tier = worst?.tier ?? "low";
  const kind = decideTier(tier, { attended, sandboxed, denyThreshold, reachesOutside: reaching !== undefined });
  if (kind === "allow") return { kind };
  if (kind === "allow_with_audit" && !policy.auditAllClassified) return { kind: "allow" };
  return { kind, class: worst?.class ?? null, dangerousCommandClass, reason };
}

/** Classes of changes through a network that name no file: accounts, clusters, databases, repositories of others. */
const overNetwork: ReadonlySet<ExecClass> = new Set([
  "exfiltration",
  "reverse_shell",
  "recursive_delete",
  "privilege_escalation",
]);

const canReach = ({ path, class: kind }: ExecFinding, { network, paths }: SandboxReach): boolean => {
  if (path !== undefined) return paths.some((root) => path === root || isBelow(path, root) || isBelow(root, path));
  const isOpen = typeof network === "string" ? network === "all" : network.allow.length > 0;
  return isOpen && overNetwork.has(kind);
};

/** An allow pattern covers what its command does, but neither redirections and pipes around it nor tier critical. */
const isCovered = ({ command, tier }: ExecFinding, isAllowed: readonly boolean[]) =>
  tier !== "critical" && command !== null && isAllowed[command] === true;
