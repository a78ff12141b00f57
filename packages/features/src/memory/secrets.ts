/** Whether a text has a secret of the user in it. */
import type { FeaturePlace } from "@tau/extensions";
import { createRedactor, isSecretName } from "@tau/policy/internal";
import { holdsPassword } from "@tau/tools/platform";

const limits = { depth: 1, values: 1, characters: 1_000_000 };

/** Knows the keys that tau uses, those in the settings, the secret variables, and what keys look like. */
export async function createSecretCheck(
  { settings, openAuth }: Pick<FeaturePlace, "settings" | "openAuth">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<(text: string) => boolean> {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value && (isSecretName(name) || holdsPassword(value)) ? [value] : [],
  );
  const auth = await openAuth();
  const redactor = createRedactor(
    [...auth.usedKeys(), ...auth.storedKeys(), ...Object.values(settings.get().apiKeys).flat(), ...variables],
    limits,
  );
  return (text) => redactor.redact(text) !== text;
}
