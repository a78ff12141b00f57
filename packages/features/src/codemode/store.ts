/** The values that scripts keep: entries of the log, so that each branch has those of its own path. Pure. */
import type { SessionEntry } from "@tau/protocol";
import { asRecord, isRecord } from "@tau/ai/internal";
import type { StoreChange } from "./engine/worker.ts";

export const storeEntryType = "codemode-store";

/** The data of an entry: the changes of one script. */
interface StoreEntryData {
  readonly set: Readonly<Record<string, unknown>>;
  readonly delete: readonly string[];
}

/** The values of a branch, each as JSON. */
export function readStore(branch: readonly SessionEntry[]): Record<string, string> {
  const store = new Map<string, string>();
  for (const entry of branch) {
    if (entry.type !== "custom" || entry.customType !== storeEntryType) continue;
    const data = asRecord(entry.data);
    if (Array.isArray(data["delete"])) for (const key of data["delete"]) store.delete(String(key));
    if (!isRecord(data["set"])) continue;
    for (const [key, value] of Object.entries(data["set"])) store.set(key, JSON.stringify(value) ?? "null");
  }
  return Object.fromEntries(store);
}

/** Undefined if nothing changed. */
export function toEntryData(changes: readonly StoreChange[]): StoreEntryData | undefined {
  if (changes.length === 0) return undefined;
  const last = new Map(changes.map(({ key, json }) => [key, json]));
  const set = [...last].flatMap(([key, json]) => (json === null ? [] : [[key, JSON.parse(json) as unknown] as const]));
  const removed = [...last].flatMap(([key, json]) => (json === null ? [key] : []));
  return { set: Object.fromEntries(set), delete: removed };
}
