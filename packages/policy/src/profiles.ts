/** The named profiles of a policy, and the quotas that each gives to an isolated extension. */
import type { ExecTier } from "./exec/classification.ts";
import type { Capability } from "./policy.ts";

/** Decide about a capability that no list names: `strict` denies it, `prompt` asks, `permissive` allows. */
export const policyModes = ["strict", "prompt", "permissive"] as const;
export type PolicyMode = (typeof policyModes)[number];

interface PolicyProfile {
  mode: PolicyMode;
  defaultCaps: readonly Capability[];
  denyCaps: readonly Capability[];
  denyThreshold: ExecTier;
  auditAllClassified: boolean;
  maxMemoryMb: number;
  quota: ExtensionQuota;
}

/** Undefined means no limit. */
export interface ExtensionQuota {
  callsPerSecond: number;
  callsPerMinute: number;
  processes: number;
  bytesWritten: number | undefined;
  requests: number | undefined;
}

const defaultCaps = ["read", "write", "http", "events", "session"] as const;
const denyCaps = ["exec", "env"] as const;

const profiles = {
  safe: {
    mode: "strict",
    defaultCaps,
    denyCaps,
    denyThreshold: "high",
    auditAllClassified: true,
    maxMemoryMb: 256,
    quota: {
      callsPerSecond: 20,
      callsPerMinute: 500,
      processes: 4,
      bytesWritten: 50 * 1024 * 1024,
      requests: 200,
    },
  },
  balanced: {
    mode: "prompt",
    defaultCaps,
    denyCaps,
    denyThreshold: "critical",
    auditAllClassified: true,
    maxMemoryMb: 256,
    quota: { callsPerSecond: 100, callsPerMinute: 2_000, processes: 8, bytesWritten: undefined, requests: undefined },
  },
  permissive: {
    mode: "permissive",
    defaultCaps: [],
    denyCaps: [],
    denyThreshold: "critical",
    auditAllClassified: false,
    maxMemoryMb: 256,
    quota: { callsPerSecond: 500, callsPerMinute: 10_000, processes: 32, bytesWritten: undefined, requests: undefined },
  },
} as const satisfies Record<string, PolicyProfile>;

type PolicyProfileName = keyof typeof profiles;
export const policyProfiles = Object.keys(profiles) as readonly PolicyProfileName[];

/** Describe each profile in a line, for people who choose one. */
export const profileTexts: Readonly<Record<PolicyProfileName, string>> = {
  safe: "denies dangerous commands, and what extensions want beyond their lists",
  balanced: "asks about dangerous commands, and about what extensions want beyond their lists",
  permissive: "asks about dangerous commands, and allows what extensions want",
};

/** An unknown name stands for the strictest profile: a slip of the pen must not allow more. */
export const getProfile = (name: string): PolicyProfile =>
  Object.hasOwn(profiles, name) ? profiles[name as PolicyProfileName] : profiles.safe;
