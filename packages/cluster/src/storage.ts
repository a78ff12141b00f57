/** The logs of a cluster: every node can open each, one at a time. */
import { type LogKey, type Storage, type StoredLog } from "@tau/harness/session";
import { type LogStoreOptions, NatsLogStore } from "./log-store.ts";
import { fromToken, logStreams, logSubjects, placeLog, toBlobStart, toLogKey, toLogName } from "./names.ts";

interface ClusterStorageOptions extends Omit<LogStoreOptions, "sessionId" | "isHidden"> {
  /** Whether sessions in the trash are found too. Default false. */
  includesTrash?: boolean;
}

export function createClusterStorage({ includesTrash = false, ...options }: ClusterStorageOptions): Storage {
  const { bus, leases } = options;
  const isTrashed = async (key: LogKey) => !includesTrash && (await leases.isTrashed(toLogName(key)));
  const listNames = async () => {
    const subjects = await Promise.all(logStreams.map((stream) => bus.listSubjects(stream, logSubjects(stream))));
    return subjects.flat().map((subject) => fromToken(subject.slice(subject.lastIndexOf(".") + 1)));
  };
  const describe = async (key: LogKey): Promise<StoredLog | undefined> => {
    const store = new NatsLogStore({ ...options, sessionId: toLogName(key) });
    const stats = await store.stat();
    await store.close();
    return stats && { key, size: stats.size, modifiedMs: Date.parse(store.lastTime) };
  };
  return {
    name: "the cluster",
    async open(key, { createdAt } = {}) {
      const isHidden = createdAt === undefined && (await isTrashed(key));
      return new NatsLogStore({ ...options, sessionId: toLogName(key), isHidden });
    },
    async list(collection) {
      const logs: StoredLog[] = [];
      for (const name of await listNames()) {
        const key = toLogKey(name);
        if (!key?.startsWith(`${collection}/`) || (await isTrashed(key))) continue;
        const log = await describe(key);
        if (log) logs.push(log);
      }
      return logs;
    },
    async remove(key) {
      const name = toLogName(key);
      if (!(await describe(key))) return { kind: "missing" };
      const outcome = await leases.acquire(name);
      if (outcome.kind === "busy") return outcome;
      const blobs = toBlobStart(name);
      // The log first: its blobs are useless without it, not the other way round.
      await removeLog(bus, name);
      for (const each of await listNames()) if (each.startsWith(blobs)) await removeLog(bus, each);
      await outcome.lease.release();
      return { kind: "removed" };
    },
  };
}

async function removeLog(bus: LogStoreOptions["bus"], name: string): Promise<void> {
  const { stream, subject } = placeLog(name);
  await bus.purge(stream, subject);
}
