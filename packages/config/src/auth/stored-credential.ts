/** Reads and writes the credential of an entry of `auth.json`, in the key chain if there is one. */
import { getProviderInfo, isRecord } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { type AuthEntries, parseAuthFile } from "./auth-file.ts";
import { type Credential, parseCredential, type ParsedCredential } from "./credential.ts";
import { type Failed, failed } from "./failure.ts";
import type { KeyChain } from "./key-chain.ts";
import { parseKey } from "./key-value.ts";

/** Where secrets are stored. Without `chain`, in the entry itself. */
export interface SecretStore {
  readonly chain?: KeyChain | undefined;
  /** The name of the service in the key chain, different for each file. */
  service: string;
}

export type Stored = { kind: "none" } | ParsedCredential | Failed;

/** The secrets of an entry that are written in it: not those that a variable or a command gives. Pure. */
export function listSecrets(entry: unknown): string[] {
  if (!isRecord(entry)) return [];
  const { access, refresh, key } = entry;
  const parts = typeof key === "string" ? parseKey(key) : undefined;
  const texts = parts?.kind === "parts" ? parts.parts.flatMap((part) => (part.kind === "text" ? part.text : [])) : [];
  return [access, refresh, ...texts].filter((value): value is string => typeof value === "string" && value !== "");
}

export const isInChain = (entry: unknown) => isRecord(entry) && entry["keyChain"] === true;

/** The name under which the credential of a provider is stored, which may be a former id of it. */
export function findStoredName(entries: AuthEntries, provider: string): string {
  const names = [provider, ...(getProviderInfo(provider)?.formerIds ?? [])];
  return names.find((name) => entries.has(name)) ?? provider;
}

export async function readCredential(
  entries: AuthEntries,
  provider: string,
  secretStore: SecretStore,
): Promise<Stored> {
  const entry = entries.get(provider);
  if (entry === undefined) return { kind: "none" };
  if (!isInChain(entry)) return parseCredential(provider, entry);
  const fail = (problem: string) =>
    failed("key_chain", `The key of ${provider} is in the system's key chain, ${problem}`);
  if (!secretStore.chain) return fail(`which is not used. ${turnOn}`);
  let secret: string | undefined;
  try {
    secret = await secretStore.chain.get(secretStore.service, provider);
  } catch (error) {
    // Another error is dropped, since it may have the secret.
    if (error instanceof HarnessError) return failed("key_chain", error.message);
    return fail("which could not be read. Unlock it and try again.");
  }
  if (secret === undefined) return fail("which has no such entry. Log in or store the key again.");
  const content = await parseAuthFile(secret);
  if (content.kind === "good") return parseCredential(provider, Object.fromEntries(content.entries));
  return fail("where it is damaged. Log in or store the key again.");
}

const turnOn = "To use it: tau auth move keychain. To take keys out of it: tau auth move file";

/** The entries with the credential. The key chain is changed first. */
export async function withCredential(
  entries: AuthEntries,
  { provider, credential, secretStore }: { provider: string; credential: Credential; secretStore: SecretStore },
): Promise<AuthEntries> {
  const { chain, service } = secretStore;
  if (!chain) return new Map(entries).set(provider, credential);
  const instead = " To store keys in auth.json instead: tau auth move file";
  await changeChain(provider, () => chain.set(service, provider, JSON.stringify(credential)), instead);
  const { serves } = credential;
  // It is no secret, and decides which models are listed before the key chain is asked.
  return new Map(entries).set(provider, { type: credential.type, keyChain: true, ...(isRecord(serves) && { serves }) });
}

export async function withoutCredential(entries: AuthEntries, provider: string, secretStore: SecretStore) {
  const { chain, service } = secretStore;
  if (isInChain(entries.get(provider))) {
    if (!chain) {
      const message = `The key of ${provider} is in the system's key chain, which is not used. ${turnOn}`;
      throw new HarnessError("write_failed", message);
    }
    await changeChain(provider, () => chain.delete(service, provider));
  }
  const rest = new Map(entries);
  rest.delete(provider);
  return rest;
}

async function changeChain(provider: string, change: () => Promise<void>, instead = ""): Promise<void> {
  await change().catch((error: unknown) => {
    if (error instanceof HarnessError) throw error;
    const message = `The system's key chain refused the change for ${provider}. Unlock it and try again.${instead}`;
    // Without a cause, which may have the secret.
    throw new HarnessError("write_failed", message);
  });
}
