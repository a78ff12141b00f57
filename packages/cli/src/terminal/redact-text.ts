/** Removes secrets from what the user types, before it is kept in a file. */
import { holdsPassword } from "@tau/tools/platform";
import { createRedactor, isSecretName } from "@tau/policy/internal";
import type { Io } from "../commands/command.ts";

const limits = { depth: 1, values: 1, characters: 1_000_000 };

/** Knows the keys that tau uses, those in the settings and in `models.json`, the secret variables, and what keys look like. */
export async function openTextRedactor(io: Io): Promise<(text: string) => string> {
  const { openAccess } = await import("../commands/access.ts");
  const { auth, registry, settings, close } = await openAccess(io);
  const variables = Object.entries(io.env).flatMap(([name, value]) =>
    value && (isSecretName(name) || holdsPassword(value)) ? [value] : [],
  );
  const written = [...registry.writtenValues(), ...Object.values(settings.get().apiKeys).flat()];
  const keys = [...auth.usedKeys(), ...auth.storedKeys(), ...written];
  await close();
  const redactor = createRedactor([...keys, ...variables], limits);
  return (text) => String(redactor.redact(text));
}
