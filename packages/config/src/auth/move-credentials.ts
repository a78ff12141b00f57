/**
 * Moves stored credentials between `auth.json` and the key chain. The new place is complete before the old one is changed,
 * so that after a crash at any moment each credential is readable with the place that is chosen then.
 */
import { HarnessError } from "@tau/protocol";
import type { AuthEntries } from "./auth-file.ts";
import type { AuthStore } from "./auth-store.ts";
import type { Credential } from "./credential.ts";
import type { AuthNotice } from "./failure.ts";
import type { KeyChain } from "./key-chain.ts";
import { isInChain, readCredential, withCredential } from "./stored-credential.ts";
import { checkKeyChain } from "./system-key-chain.ts";

/** Where credentials are stored. */
export type CredentialPlace = "file" | "keychain";

export interface MoveOptions {
  chain: KeyChain;
  /** Stores the new place in the settings. */
  choose: (place: CredentialPlace) => Promise<void>;
}

interface Move extends MoveOptions {
  store: AuthStore;
  /** The name of the service in the key chain. */
  service: string;
  notify: (notice: AuthNotice) => void;
}

/** Resolves to the providers whose credentials were moved. If one cannot be, none is, and it rejects with a `HarnessError`. */
export async function moveCredentials(to: CredentialPlace, move: Move): Promise<string[]> {
  return await (to === "file" ? moveToFile(move) : moveToKeyChain(move));
}

async function moveToKeyChain({ store, chain, service, choose }: Move): Promise<string[]> {
  await checkKeyChain(chain, service);
  return await store.change(async (entries) => {
    const secretStore = { chain, service };
    const moved = await readAll(entries, secretStore, (entry) => !isInChain(entry));
    let result = entries;
    for (const [provider, credential] of moved) {
      result = await withCredential(result, { provider, credential, secretStore });
      const { kind } = await readCredential(result, provider, secretStore);
      if (kind !== "credential") throw cannotMove(provider, "The key chain did not return what was stored in it.");
    }
    // What is in the file is readable with either choice, what is in the key chain only with this one.
    await choose("keychain");
    return { result: [...moved.keys()], entries: result };
  });
}

async function moveToFile({ store, chain, service, choose, notify }: Move): Promise<string[]> {
  const moved = await store.change(async (entries) => {
    const secrets = await readAll(entries, { chain, service }, isInChain);
    return { result: [...secrets.keys()], entries: new Map([...entries, ...secrets]) };
  });
  await choose("file");
  // Also what an earlier move left behind that was interrupted here.
  const clean = store.change(async (entries) => {
    for (const [provider, entry] of entries) if (!isInChain(entry)) await chain.delete(service, provider);
    return { result: undefined };
  });
  await clean.catch(() => {
    const message = "Credentials that are in the file now could not be deleted from the key chain. Delete them there.";
    notify({ kind: "not_saved", message });
  });
  return moved;
}

/** Entries that this version does not understand stay where they are. */
async function readAll(
  entries: AuthEntries,
  secretStore: { chain: KeyChain; service: string },
  isWanted: (entry: unknown) => boolean,
): Promise<Map<string, Credential>> {
  const credentials = new Map<string, Credential>();
  for (const [provider, entry] of entries) {
    if (!isWanted(entry)) continue;
    const stored = await readCredential(entries, provider, secretStore);
    if (stored.kind === "credential") credentials.set(provider, stored.credential);
    if (stored.kind === "failed") throw cannotMove(provider, stored.failure.message);
  }
  return credentials;
}

const cannotMove = (provider: string, reason: string): HarnessError =>
  new HarnessError("unavailable", `The credential of ${provider} cannot be moved, so none was. ${reason}`);
