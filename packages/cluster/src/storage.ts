/** Sessions in a cluster: every node can open each, one at a time. */
import type { SessionStorage } from "@tau/harness/session";
import { HarnessError } from "@tau/protocol";
import { type LogStoreOptions, NatsLogStore } from "./log-store.ts";

interface ClusterStorageOptions extends Omit<LogStoreOptions, "sessionId"> {
  /** Whether sessions in the trash are found too. Default false. */
  includesTrash?: boolean;
}

export function createClusterStorage({ includesTrash = false, ...options }: ClusterStorageOptions): SessionStorage {
  const openStore = (sessionId: string) => new NatsLogStore({ ...options, sessionId });
  return {
    // There are no files.
    directory: undefined,
    createStore: ({ id }) => openStore(id),
    async createWhole({ id }, bytes) {
      const store = openStore(id);
      const outcome = await store.append(bytes, { position: 0, sync: true });
      if (outcome.kind === "appended") return store;
      await store.close();
      throw new HarnessError("write_failed", `The session ${id} could not be created: ${outcome.reason}.`);
    },
    async findStore(id) {
      if (!includesTrash && (await options.leases.isTrashed(id))) return undefined;
      const store = openStore(id);
      if (await store.stat()) return store;
      await store.close();
      return undefined;
    },
  };
}
