/** The logs of sessions in a storage. */
import type { LogKey, LogStore, Storage } from "@tau/tools/storage";
import { HarnessError } from "@tau/protocol";
import type { SessionHeader } from "./entry.ts";
import { isSessionId } from "./session-directory.ts";

export const toSessionKey = (id: string): LogKey => `session/${id}`;

/** Undefined if there is no session with this id. */
export async function findLog(storage: Storage, id: string): Promise<LogStore | undefined> {
  if (!isSessionId(id)) return undefined;
  const store = await storage.open(toSessionKey(id));
  if (await store.stat()) return store;
  await store.close();
  return undefined;
}

export async function isStored(storage: Storage, id: string): Promise<boolean> {
  const store = await findLog(storage, id);
  await store?.close();
  return store !== undefined;
}

/** Creates a session with all of `bytes` in it, or none at all. */
export async function createWhole(storage: Storage, header: SessionHeader, bytes: Uint8Array): Promise<LogStore> {
  const store = await storage.open(toSessionKey(header.id), { createdAt: header.timestamp });
  const outcome = await store.replace(bytes);
  if (outcome.kind === "appended") return store;
  await store.close();
  throw new HarnessError("write_failed", `The session ${header.id} could not be created: ${outcome.reason}.`);
}
