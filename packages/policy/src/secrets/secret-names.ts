/** Which environment variables are secrets by their names. Pure. */

export interface SecretBrokerPolicy {
  readonly enabled: boolean;
  /** Whole names. Case does not matter, here and below. */
  readonly exact: readonly string[];
  readonly suffixes: readonly string[];
  readonly prefixes: readonly string[];
  /** Names that are given out although they look like secrets. */
  readonly disclosureAllowlist: readonly string[];
}

export const defaultSecretBroker: SecretBrokerPolicy = {
  enabled: true,
  exact: ["AWS_ACCESS_KEY_ID", "DATABASE_URL", "DOCKER_AUTH_CONFIG", "PGPASSFILE", "REDIS_URL"],
  suffixes: [
    "_API_KEY",
    "_APIKEY",
    "_AUTH",
    "_CREDENTIALS",
    "_DSN",
    "_KEY",
    "_PASS",
    "_PASSPHRASE",
    "_PASSWORD",
    "_PRIVATE_KEY",
    "_SECRET",
    "_SECRET_KEY",
    "_TOKEN",
    "_WEBHOOK_URL",
  ],
  prefixes: ["AWS_SECRET_", "AZURE_CLIENT_", "OP_SESSION_", "SECRET_", "VAULT_"],
  disclosureAllowlist: [],
};

/** Whether the policy keeps a variable of this name from extensions and commands. */
export function isBrokeredSecret(name: string, policy: SecretBrokerPolicy): boolean {
  if (!policy.enabled) return false;
  const upper = name.toUpperCase();
  const isAny = (list: readonly string[], matches: (entry: string) => boolean) =>
    list.some((entry) => entry !== "" && matches(entry.toUpperCase()));
  if (isAny(policy.disclosureAllowlist, (entry) => entry === upper)) return false;
  return (
    isAny(policy.exact, (entry) => entry === upper) ||
    isAny(policy.suffixes, (entry) => upper.endsWith(entry)) ||
    isAny(policy.prefixes, (entry) => upper.startsWith(entry))
  );
}
