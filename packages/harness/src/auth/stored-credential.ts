/** From an entry of `auth.json` to a credential and back, by way of the key chain where there is one. */
import { isRecord } from "@tau/ai";
import { HarnessError } from "../errors.ts";
import type { FieldProblem } from "../fields/field.ts";
import { type AuthEntries, parseAuthFile } from "./auth-file.ts";
import { type Credential, parseCredential } from "./credential.ts";
import { type Failed, failed } from "./failure.ts";
import type { KeyChain } from "./key-chain.ts";

/** Where secrets are kept. Without `chain`, in the entry itself. */
export interface Keeping {
  chain?: KeyChain;
  /** The name under which the chain keeps what belongs to one file. */
  service: string;
}

export type Stored =
  | { kind: "none" }
  | { kind: "credential"; credential: Credential }
  | { kind: "bad"; problem: FieldProblem }
  | Failed;

const isInChain = (entry: unknown) => isRecord(entry) && entry["keyChain"] === true;

export async function readCredential(entries: AuthEntries, provider: string, keeping: Keeping): Promise<Stored> {
  const entry = entries.get(provider);
  if (entry === undefined) return { kind: "none" };
  if (!isInChain(entry)) return parsed(provider, entry);
  const problem = (what: string) => failed("key_chain", `The key of ${provider} is in the system's key chain, ${what}`);
  if (!keeping.chain) return problem("which is not available here. Log in again, or store the key in the file.");
  // Null when it could not be read. What the chain says about that may hold what was being read.
  const secret = await keeping.chain.get(keeping.service, provider).catch(() => null);
  if (secret === null) return problem("which could not be read. Unlock it and try again.");
  if (secret === undefined) return problem("which has nothing under that name. Log in or store the key again.");
  const content = await parseAuthFile(secret);
  if (content.kind === "good") return parsed(provider, Object.fromEntries(content.entries));
  return problem("where it is damaged. Log in or store the key again.");
}

function parsed(provider: string, entry: unknown): Stored {
  const found = parseCredential(provider, entry);
  return found.kind === "good" ? { kind: "credential", credential: found.credential } : found;
}

/** The entries with one more credential. What the chain keeps is there before the file says so. */
export async function withCredential(
  entries: AuthEntries,
  { provider, credential, keeping }: { provider: string; credential: Credential; keeping: Keeping },
): Promise<AuthEntries> {
  const { chain, service } = keeping;
  if (!chain) return new Map(entries).set(provider, credential);
  await inChain(provider, () => chain.set(service, provider, JSON.stringify(credential)));
  return new Map(entries).set(provider, { type: credential.type, keyChain: true });
}

export async function withoutCredential(entries: AuthEntries, provider: string, keeping: Keeping) {
  const { chain, service } = keeping;
  if (chain && isInChain(entries.get(provider))) await inChain(provider, () => chain.delete(service, provider));
  const rest = new Map(entries);
  rest.delete(provider);
  return rest;
}

async function inChain(provider: string, act: () => Promise<void>): Promise<void> {
  await act().catch(() => {
    const message = `The system's key chain did not take the change for ${provider}. Unlock it and try again.`;
    // Without a cause: that may repeat what the chain was given.
    throw new HarnessError("write_failed", message);
  });
}
