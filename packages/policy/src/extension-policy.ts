/** Judges a capability of an extension by the lists of a policy. Pure. */
import { withoutUndefined } from "@tau/ai/internal";
import { renameSnakeCase, type SnakeCase } from "./snake-case.ts";
import type { ExecMediationPolicy } from "./exec/mediation.ts";
import { capabilities, type Capability } from "./policy.ts";
import { type ExtensionQuota, getProfile, type PolicyMode } from "./profiles.ts";
import { defaultSecretBroker, type SecretBrokerPolicy } from "./secrets/secret-names.ts";

/** The rules of one extension, before and after the lists of the policy. */
export interface ExtensionOverride {
  readonly mode?: PolicyMode | undefined;
  readonly allow?: readonly Capability[] | undefined;
  readonly deny?: readonly Capability[] | undefined;
  /** Names of files with secrets of the project that it may open although it is isolated, such as `.env`. */
  readonly secretFiles?: readonly string[] | undefined;
}

export interface ExtensionPolicy {
  readonly mode: PolicyMode;
  readonly defaultCaps: readonly Capability[];
  readonly denyCaps: readonly Capability[];
  readonly perExtension: Readonly<Record<string, ExtensionOverride>>;
  readonly maxMemoryMb: number;
  readonly quota: ExtensionQuota;
  readonly execMediation: ExecMediationPolicy;
  readonly secretBroker: SecretBrokerPolicy;
}

/** Which step decided, in the order of precedence. */
const policyReasons = ["extension_deny", "deny_caps", "extension_allow", "default_caps", "mode"] as const;
export type PolicyReason = (typeof policyReasons)[number];

export type PolicyDecision = "allow" | "prompt" | "deny";

export interface PolicyCheck {
  readonly capability: string;
  readonly decision: PolicyDecision;
  readonly reason: PolicyReason;
}

/** Whether a capability lets an extension do anything that the user may do: run commands, and read their environment. */
export const isDangerous = (capability: Capability): boolean => capability === "exec" || capability === "env";

const decisions = { strict: "deny", prompt: "prompt", permissive: "allow" } as const;

/**
 * Judges what an extension wants; without `extensionId`, what any extension would get. A name that is no capability is
 * denied. `policy` defaults to the profile `balanced`.
 */
export function evaluateFor(
  capability: string,
  extensionId?: string,
  policy: ExtensionPolicy = resolvePolicy(),
): PolicyCheck {
  const name = capability.trim().toLowerCase() as Capability;
  const override = extensionId === undefined ? undefined : getOwn(policy.perExtension, extensionId);
  const check = (decision: PolicyDecision, reason: PolicyReason) => ({ capability: name, decision, reason });
  if (!capabilities.includes(name)) return check("deny", "mode");
  if (override?.deny?.includes(name)) return check("deny", "extension_deny");
  if (policy.denyCaps.includes(name)) return check("deny", "deny_caps");
  if (override?.allow?.includes(name)) return check("allow", "extension_allow");
  if (policy.defaultCaps.includes(name)) return check("allow", "default_caps");
  return check(decisions[override?.mode ?? policy.mode], "mode");
}

/** A policy as it is written down: what is left out comes from the profile. Keys may be in snake_case too. */
export interface PolicyInput {
  readonly profile?: string | undefined;
  readonly mode?: PolicyMode | undefined;
  readonly defaultCaps?: readonly Capability[] | undefined;
  readonly denyCaps?: readonly Capability[] | undefined;
  readonly perExtension?: Readonly<Record<string, ExtensionOverride>> | undefined;
  readonly maxMemoryMb?: number | undefined;
  readonly execMediation?: Partial<ExecMediationPolicy> | undefined;
  readonly secretBroker?: Partial<SecretBrokerPolicy> | undefined;
}

type SnakeCaseInput = SnakeCase<PolicyInput, "execMediation" | "secretBroker">;

const names = ["defaultCaps", "denyCaps", "perExtension", "maxMemoryMb", "execMediation", "secretBroker"];
const mediationNames = ["denyThreshold", "denyPatterns", "allowPatterns", "auditAllClassified"];
const brokerNames = ["disclosureAllowlist"];

/** Fills in the profile, which is `balanced` by default. */
export function resolvePolicy(input: PolicyInput | SnakeCaseInput = {}): ExtensionPolicy {
  const given = renameSnakeCase(input, names) as PolicyInput;
  const execMediation = renameSnakeCase(given.execMediation ?? {}, mediationNames) as Partial<ExecMediationPolicy>;
  const secretBroker = renameSnakeCase(given.secretBroker ?? {}, brokerNames) as Partial<SecretBrokerPolicy>;
  const { denyThreshold, auditAllClassified, ...profile } = getProfile(given.profile ?? "balanced");
  const mediation = { enabled: true, denyThreshold, denyPatterns: [], allowPatterns: [], auditAllClassified };
  return {
    mode: given.mode ?? profile.mode,
    defaultCaps: given.defaultCaps ?? profile.defaultCaps,
    denyCaps: given.denyCaps ?? profile.denyCaps,
    perExtension: given.perExtension ?? {},
    maxMemoryMb: given.maxMemoryMb ?? profile.maxMemoryMb,
    quota: profile.quota,
    execMediation: { ...mediation, ...withoutUndefined(execMediation) },
    secretBroker: { ...defaultSecretBroker, ...withoutUndefined(secretBroker) },
  };
}

/** The files with secrets that the policy names for an extension. */
export const getSecretFiles = (policy: ExtensionPolicy, extension: string): readonly string[] =>
  getOwn(policy.perExtension, extension)?.secretFiles ?? [];

const getOwn = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;
