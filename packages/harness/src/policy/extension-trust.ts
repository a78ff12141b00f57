/**
 * Whether the user trusts an extension. What was never looked at is `pending`; what the user has looked at is
 * `acknowledged`, and later `trusted`; `killed` is off until a person turns it on again. The state is bound to the content
 * of the extension, and every change of it is in the audit ledger.
 */
import { isRecord } from "@tau/ai/internal";
import { type Clock, systemClock } from "@tau/ai";
import { appendToLedger } from "./ledger.ts";
import { describeRecordFile, type RecordFileOptions } from "./record-file.ts";

export const extensionTrustStates = ["pending", "acknowledged", "trusted", "killed"] as const;
export type ExtensionTrustState = (typeof extensionTrustStates)[number];

/** A wish to change the state. `operator` is the one who wishes it: `person`, or the name of a rule. */
export interface TrustChange {
  to: ExtensionTrustState;
  operator: string;
  reason: string;
}

/** One change, as the ledger has it. */
export interface TrustRecord {
  readonly ts_ms: number;
  readonly extension_id: string;
  /** Whether the extension was turned off by it. */
  readonly activated: boolean;
  readonly reason: string;
  readonly operator: string;
  readonly previous_state: ExtensionTrustState;
  readonly new_state: ExtensionTrustState;
}

const isPerson = (operator: string): boolean => operator === "person";

/** The state after a change; the same state where the change is not allowed. Pure. */
export function changeTrust(state: ExtensionTrustState, { to, operator }: TrustChange): ExtensionTrustState {
  switch (to) {
    case "killed":
      return "killed";
    case "pending":
      // Another content does not bring back what was turned off.
      return state === "killed" ? "killed" : "pending";
    case "acknowledged":
      // Only from where the user has not looked yet, and never without the user.
      return isPerson(operator) && (state === "pending" || state === "killed") ? "acknowledged" : state;
    case "trusted":
      return isPerson(operator) && state === "acknowledged" ? "trusted" : state;
  }
}

export interface StoredTrust {
  readonly state: ExtensionTrustState;
  /** Of the content that the user looked at. */
  readonly digest: string;
}

/** The state of an extension with this content. What was stored for another content is `pending`, unless it was killed. Pure. */
export function getTrustState(stored: StoredTrust | undefined, digest: string): ExtensionTrustState {
  if (!stored) return "pending";
  return stored.digest === digest || stored.state === "killed" ? stored.state : "pending";
}

export interface ExtensionTrustOptions extends Omit<RecordFileOptions, "cwd"> {
  clock?: Clock;
}

export async function readExtensionTrust(
  extension: { id: string; digest: string },
  { agentDir, ...options }: Omit<ExtensionTrustOptions, "ids">,
): Promise<ExtensionTrustState> {
  const stored = await store.read({ ...options, agentDir, cwd: agentDir });
  return getTrustState(new Map(stored).get(extension.id), extension.digest);
}

/** What is stored about every extension, by id. */
export const listExtensionTrust = async ({
  agentDir,
  ...options
}: Omit<ExtensionTrustOptions, "ids">): Promise<ReadonlyMap<string, StoredTrust>> =>
  new Map(await store.read({ ...options, agentDir, cwd: agentDir }));

/** For an extension that was removed: nothing about it stays but the ledger. */
export async function forgetExtensionTrust(id: string, options: ExtensionTrustOptions): Promise<void> {
  const { agentDir, ids, clock = systemClock, fileSystem } = options;
  const ports = { agentDir, ids, ...(fileSystem && { fileSystem }) };
  const stored = (await listExtensionTrust(ports)).get(id);
  if (!stored) return;
  const record: TrustRecord = {
    ts_ms: clock.now(),
    extension_id: id,
    activated: false,
    reason: "removed",
    operator: "person",
    previous_state: stored.state,
    new_state: "pending",
  };
  await appendToLedger({ event: "extension_trust", ...record }, { ...ports, clock });
  await store.change({ ...ports, cwd: agentDir }, (records) => records.filter(([other]) => other !== id));
}

/**
 * Changes the state, and returns the new one. A change that changes nothing is not written down, such as a second kill. The
 * ledger is written first: a state whose change nobody can look up is not stored.
 */
export async function writeExtensionTrust(
  extension: { id: string; digest: string },
  change: TrustChange,
  options: ExtensionTrustOptions,
): Promise<ExtensionTrustState> {
  const { agentDir, ids, clock = systemClock, fileSystem } = options;
  const ports = { agentDir, ids, ...(fileSystem && { fileSystem }) };
  const before = await readExtensionTrust(extension, ports);
  const after = changeTrust(before, change);
  if (after === before) return after;
  const record: TrustRecord = {
    ts_ms: clock.now(),
    extension_id: extension.id,
    activated: after === "killed",
    reason: change.reason,
    operator: change.operator,
    previous_state: before,
    new_state: after,
  };
  await appendToLedger({ event: "extension_trust", ...record }, { ...ports, clock });
  await store.change({ ...ports, cwd: agentDir }, (records) => {
    const all = new Map(records);
    // From what is stored by now: another process may have killed it meanwhile.
    const state = changeTrust(getTrustState(all.get(extension.id), extension.digest), change);
    return [...all.set(extension.id, { state, digest: extension.digest })];
  });
  return after;
}

/** By the id of the extension. A store that cannot be read trusts nothing. */
const store = describeRecordFile("extension-trust.json", "extensions", (value): [string, StoredTrust][] =>
  Array.isArray(value) ? value.filter(isEntry) : [],
);

function isEntry(value: unknown): value is [string, StoredTrust] {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [id, stored] = value as unknown[];
  if (typeof id !== "string" || !isRecord(stored)) return false;
  return extensionTrustStates.some((state) => state === stored["state"]) && typeof stored["digest"] === "string";
}
