/**
 * Whether the user trusts an extension. What was never looked at is `pending`; what the user has looked at is
 * `acknowledged`, and later `trusted`; `killed` is off until a person turns it on again. The state is bound to the content
 * of the extension, and every change of it is in the audit ledger.
 */
import { isRecord } from "@tau/ai/internal";
import { type Clock, systemClock } from "@tau/ai";
import { appendToLedger, describeRecordFile, type RecordFileOptions } from "@tau/policy/internal";

export const extensionTrustStates = ["pending", "acknowledged", "trusted", "killed"] as const;
export type ExtensionTrustState = (typeof extensionTrustStates)[number];

/** A wish to change the state. `operator` is the one who wishes it: `person`, or the name of a rule. */
export interface TrustChange {
  to: ExtensionTrustState;
  operator: string;
  reason: string;
}

/** A change, as the ledger has it. */
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

/** Which installed extension a state is about. */
export interface TrustedPlace {
  readonly id: string;
  /** The real path of the project that has the package; undefined for the user's own. Each has a version of its own. */
  readonly project?: string | undefined;
}

export interface TrustSubject extends TrustedPlace {
  readonly digest: string;
}

export interface StoredTrust {
  readonly state: ExtensionTrustState;
  readonly project?: string | undefined;
  /** The digest of the content that the user looked at. */
  readonly digest: string;
}

/** With the id of the extension. */
export type TrustEntry = readonly [string, StoredTrust];

/** Finds what applies to an extension: that it was killed, wherever that was, else what is stored for this place. Pure. */
export function findStoredTrust(
  entries: readonly TrustEntry[],
  { id, project }: TrustedPlace,
): StoredTrust | undefined {
  const stored = entries.filter(([other]) => other === id).map(([, each]) => each);
  return stored.find(({ state }) => state === "killed") ?? stored.find((each) => each.project === project);
}

/** The state of an extension with this content. What was stored for another content is `pending`, unless it was killed. Pure. */
export function getTrustState(stored: StoredTrust | undefined, digest: string): ExtensionTrustState {
  if (!stored) return "pending";
  return stored.digest === digest || stored.state === "killed" ? stored.state : "pending";
}

export interface ExtensionTrustOptions extends Omit<RecordFileOptions, "cwd"> {
  clock?: Clock;
}

export const readExtensionTrust = async (
  extension: TrustSubject,
  options: Omit<ExtensionTrustOptions, "ids">,
): Promise<ExtensionTrustState> =>
  getTrustState(findStoredTrust(await listExtensionTrust(options), extension), extension.digest);

/** Lists what is stored about every extension. */
export const listExtensionTrust = async ({
  agentDir,
  ...options
}: Omit<ExtensionTrustOptions, "ids">): Promise<readonly TrustEntry[]> =>
  await store.read({ ...options, agentDir, cwd: agentDir });

/** For an extension that was removed: nothing about it stays but the ledger. */
export async function forgetExtensionTrust(place: TrustedPlace, options: ExtensionTrustOptions): Promise<void> {
  const { agentDir, ids, clock = systemClock, fileSystem } = options;
  const ports = { agentDir, ids, ...(fileSystem && { fileSystem }) };
  const entry = (await listExtensionTrust(ports)).find((each) => isAt(each, place));
  if (!entry) return;
  const record: TrustRecord = {
    ts_ms: clock.now(),
    extension_id: place.id,
    activated: false,
    reason: "removed",
    operator: "person",
    previous_state: entry[1].state,
    new_state: "pending",
  };
  await appendToLedger({ event: "extension_trust", ...record }, { ...ports, clock });
  await store.change({ ...ports, cwd: agentDir }, (entries) => entries.filter((each) => !isAt(each, place)));
}

const isAt = ([id, stored]: TrustEntry, place: TrustedPlace): boolean =>
  id === place.id && stored.project === place.project;

/**
 * Changes the state, and returns the new one. A change that changes nothing is not written down, such as a second kill. The
 * ledger is written first: a state whose change nobody can look up is not stored.
 */
export async function writeExtensionTrust(
  extension: TrustSubject,
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
  await store.change({ ...ports, cwd: agentDir }, (entries) => {
    const { id, project, digest } = extension;
    // From what is stored by now: another process may have killed it meanwhile.
    const state = changeTrust(getTrustState(findStoredTrust(entries, extension), digest), change);
    // Turning it on again applies to every place in which it was killed.
    const isRevived = (entry: TrustEntry) => entry[0] === id && entry[1].state === "killed" && state !== "killed";
    const others = entries.filter((entry) => !isAt(entry, extension) && !isRevived(entry));
    return [...others, [id, { state, project, digest }]];
  });
  return after;
}

/** A store that cannot be read trusts nothing. */
const store = describeRecordFile("extension-trust.json", "extensions", (value): readonly TrustEntry[] =>
  Array.isArray(value) ? value.filter(isEntry) : [],
);

function isEntry(value: unknown): value is TrustEntry {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [id, stored] = value as unknown[];
  if (typeof id !== "string" || !isRecord(stored)) return false;
  const { state, project, digest } = stored;
  const isState = extensionTrustStates.some((each) => each === state);
  return isState && typeof digest === "string" && (project === undefined || typeof project === "string");
}
