/**
 * Secrets in the environment. Commands do not get them. One that names a secret, as `$GITHUB_TOKEN` does, gets that one
 * variable if a person allows it; its value is removed from the output, and from everything that is stored.
 */
import { holdsPassword, isSecretName, looksLikeKey } from "@tau/tools/platform";
import { getSecretForms } from "./secret-forms.ts";
import { mark } from "./redact.ts";
import { isBrokeredSecret, type SecretBrokerPolicy } from "./secret-names.ts";

export interface SecretBroker {
  /** `own`: one of tau's own keys, which no command gets. `none`: no secret, or not set. */
  classify(name: string): "own" | "secret" | "disclosed" | "none";
  /** Returns the variables that commands inherit: without what the policy calls a secret. */
  getInherited(): Record<string, string>;
  /** Returns the variables that the policy discloses, although they look like secrets. */
  getDisclosed(): Record<string, string>;
  /** The values of secrets that a command was allowed to have. From now on they are redacted. */
  give(names: readonly string[]): Record<string, string>;
  /** Every secret that was given to a command. The same array until there is another one. */
  listGiven(): readonly string[];
  /** Whether a text has the value of a secret variable or a key of tau's own in it, or something that looks like a key. */
  isIn(text: string, options?: { ignoresCase?: boolean }): boolean;
}

interface SecretBrokerParts {
  policy: () => SecretBrokerPolicy;
  /** Whether a variable holds a key that tau itself uses. */
  isOwnKey: (name: string, value: string) => boolean;
  /** Lists all forms of the keys that tau itself uses, also of those that are in no variable. Default: none. */
  listOwnForms?: () => readonly string[];
  /** Called with each value that is given to a command, before that. */
  onGive?: (value: string) => void;
  env?: Readonly<Record<string, string | undefined>>;
}

export function createSecretBroker(parts: SecretBrokerParts): SecretBroker {
  const { policy, isOwnKey, onGive, env = process.env } = parts;
  let given: readonly string[] = [];
  const classify: SecretBroker["classify"] = (name) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) return "none";
    if (isOwnKey(name, value)) return "own";
    const rules = policy();
    if (isDisclosed(name, rules)) return "disclosed";
    return isSecretName(name) || isBrokeredSecret(name, rules) || holdsPassword(value) ? "secret" : "none";
  };
  return {
    classify,
    getInherited() {
      const rules = policy();
      return pickBy(env, (name) => !isBrokeredSecret(name, rules));
    },
    getDisclosed() {
      const rules = policy();
      return pickBy(env, (name) => isDisclosed(name, rules) && classify(name) === "disclosed");
    },
    give(names) {
      const values = names.flatMap((name) => (classify(name) === "secret" ? [[name, env[name]!] as const] : []));
      for (const [, value] of values) {
        if (!given.includes(value)) given = [...given, value];
        onGive?.(value);
      }
      return Object.fromEntries(values);
    },
    listGiven: () => given,
    isIn(text, { ignoresCase = false } = {}) {
      const values = Object.keys(env).flatMap((name) => (/^(?:own|secret)$/.test(classify(name)) ? env[name]! : []));
      const forms = [...values.flatMap(getSecretForms), ...(parts.listOwnForms?.() ?? [])];
      if (looksLikeKey(text) || forms.some((form) => text.includes(form))) return true;
      const lower = text.toLowerCase();
      return ignoresCase && forms.some((form) => lower.includes(form.toLowerCase()));
    },
  };
}

const pickBy = (env: Readonly<Record<string, string | undefined>>, isWanted: (name: string) => boolean) =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && isWanted(name) ? [[name, value]] : [])),
  );

const isDisclosed = (name: string, { disclosureAllowlist }: SecretBrokerPolicy): boolean =>
  disclosureAllowlist.some((entry) => entry.toUpperCase() === name.toUpperCase());

/** The text without these values, in whatever form. Values of fewer than 8 characters are left: they could be any word. */
export function removeSecrets(text: string, values: readonly string[]): string {
  const forms = values.flatMap(getSecretForms);
  return [...new Set(forms)].reduce((cleaned, form) => cleaned.replaceAll(form, mark), text);
}
