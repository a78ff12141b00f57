/** Makes a policy stricter by another one, and never looser: for a project, a child session or an extension. Pure. */
import { type ExecTier, execTiers } from "./exec/classification.ts";
import { type ExtensionOverride, type ExtensionPolicy, type PolicyInput, resolvePolicy } from "./extension-policy.ts";
import { type PolicyMode, policyModes } from "./profiles.ts";

/** `policy`, with what `input` makes stricter. What would loosen it does not apply. */
export function restrictPolicy(policy: ExtensionPolicy, input: PolicyInput | undefined): ExtensionPolicy {
  if (!input) return policy;
  const { execMediation = {}, secretBroker = {} } = input;
  const profile = input.profile === undefined ? undefined : resolvePolicy({ profile: input.profile });
  const otherMode = input.mode ?? profile?.mode;
  const limits = policy.execMediation;
  const secrets = policy.secretBroker;
  return {
    mode: getStricterMode(policy.mode, otherMode),
    // A profile without lists is looser, not stricter.
    defaultCaps: keepCommon(policy.defaultCaps, input.defaultCaps),
    denyCaps: addAll(policy.denyCaps, input.denyCaps ?? profile?.denyCaps),
    perExtension: restrictOverrides(policy, input.perExtension, otherMode),
    maxMemoryMb: Math.min(policy.maxMemoryMb, input.maxMemoryMb ?? policy.maxMemoryMb),
    quota: profile && isStricterProfile(profile, policy) ? profile.quota : policy.quota,
    execMediation: {
      enabled: limits.enabled || execMediation.enabled === true,
      denyThreshold: getLowerTier(
        limits.denyThreshold,
        execMediation.denyThreshold ?? profile?.execMediation.denyThreshold,
      ),
      denyPatterns: addAll(limits.denyPatterns, execMediation.denyPatterns),
      allowPatterns: keepCommon(limits.allowPatterns, execMediation.allowPatterns),
      auditAllClassified: limits.auditAllClassified || execMediation.auditAllClassified === true,
    },
    secretBroker: {
      enabled: secrets.enabled || secretBroker.enabled === true,
      exact: addAll(secrets.exact, secretBroker.exact),
      suffixes: addAll(secrets.suffixes, secretBroker.suffixes),
      prefixes: addAll(secrets.prefixes, secretBroker.prefixes),
      disclosureAllowlist: keepCommon(secrets.disclosureAllowlist, secretBroker.disclosureAllowlist),
    },
  };
}

/** Extensions that the policy does not name get the lists of the policy: an exception for one may only deny. */
function restrictOverrides(
  policy: ExtensionPolicy,
  overrides: Readonly<Record<string, ExtensionOverride>> = {},
  otherMode: PolicyMode | undefined,
): Record<string, ExtensionOverride> {
  const names = new Set([...Object.keys(policy.perExtension), ...Object.keys(overrides)]);
  const entries = [...names].map((name) => {
    const own = Object.hasOwn(policy.perExtension, name) ? policy.perExtension[name]! : {};
    const stricter = Object.hasOwn(overrides, name) ? overrides[name]! : {};
    return [
      name,
      {
        mode: getStricterMode(getStricterMode(own.mode ?? policy.mode, otherMode), stricter.mode),
        allow: keepCommon(own.allow ?? [], stricter.allow),
        deny: addAll(own.deny ?? [], stricter.deny),
        secretFiles: keepCommon(own.secretFiles ?? [], stricter.secretFiles),
      },
    ] as const;
  });
  return Object.fromEntries(entries);
}

const getStricterMode = (own: PolicyMode, other: PolicyMode | undefined): PolicyMode =>
  other !== undefined && policyModes.indexOf(other) < policyModes.indexOf(own) ? other : own;

const getLowerTier = (own: ExecTier, other: ExecTier | undefined): ExecTier =>
  other !== undefined && execTiers.indexOf(other) < execTiers.indexOf(own) ? other : own;

const isStricterProfile = (profile: ExtensionPolicy, policy: ExtensionPolicy): boolean =>
  profile.quota.callsPerMinute < policy.quota.callsPerMinute;

const addAll = <T>(own: readonly T[], more: readonly T[] | undefined): readonly T[] => [
  ...new Set([...own, ...(more ?? [])]),
];

const keepCommon = <T>(own: readonly T[], other: readonly T[] | undefined): readonly T[] =>
  other === undefined ? own : own.filter((each) => other.includes(each));
