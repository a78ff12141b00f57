/** Removes secrets from a session before it leaves the machine. */
import { holdsPassword } from "@tau/tools/platform";
import type { AgentSession } from "../agent-session/agent-session.ts";
import type { ExportSource } from "../export/source.ts";
import { createRedactor, type Redactor, isSecretName } from "@tau/policy/internal";

/** A session may hold large images. */
const limits = { depth: 100, values: 20_000_000, characters: 2_000_000_000 };

/** Where keys are known from. */
interface KeySources {
  authStorage: Pick<AgentSession["authStorage"], "usedKeys" | "storedKeys">;
  modelRegistry: Pick<AgentSession["modelRegistry"], "writtenValues">;
  settings: Pick<AgentSession["settings"], "apiKeys">;
}

/** Knows the keys of the session, the values in `models.json`, and the variables that are secret by their names or values. */
export function createSessionRedactor(
  { authStorage, modelRegistry, settings: { apiKeys } }: KeySources,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Redactor {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value && (isSecretName(name) || holdsPassword(value)) ? [value] : [],
  );
  const written = [...modelRegistry.writtenValues(), ...Object.values(apiKeys).flat()];
  return createRedactor([...authStorage.usedKeys(), ...authStorage.storedKeys(), ...written, ...variables], limits);
}

export const redactSource = (session: AgentSession, source: ExportSource): ExportSource =>
  createSessionRedactor(session).redact(source) as ExportSource;
