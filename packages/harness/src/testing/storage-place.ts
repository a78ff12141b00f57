/** A place for each case of `storageContract`: all that the case opens there is closed when it ends. */
import type { LogKey, LogStore, Storage } from "@tau/tools/storage";

/** The storage that is tested. */
export interface StorageUnderTest {
  /** Opens the storage at a place, as another process would: all that open the same place have the same logs. */
  open(place: string): Promise<Storage>;
  /**
   * Makes the writer that has the lease of a log count as lost, as if its process had ended. Left out where no writer can be lost
   * without all that is stored.
   */
  abandon?(place: string, key: LogKey): Promise<void>;
}

export interface ContractPlace {
  /** Opens a log through a storage of its own. Default: that of one session. */
  open(key?: LogKey): Promise<LogStore>;
  openStorage(): Promise<Storage>;
  /** Undefined where no writer can be lost. */
  readonly abandon: (() => Promise<void>) | undefined;
}

export const contractKey: LogKey = "session/contract";

/** Runs a case at a place of its own. */
export async function withPlace(
  { open, abandon }: StorageUnderTest,
  place: string,
  run: (place: ContractPlace) => Promise<void>,
): Promise<void> {
  const opened: LogStore[] = [];
  const openStorage = () => open(place);
  try {
    await run({
      openStorage,
      async open(key = contractKey) {
        const store = await (await openStorage()).open(key);
        opened.push(store);
        return store;
      },
      abandon: abandon && (() => abandon(place, contractKey)),
    });
  } finally {
    for (const store of opened) await store.close();
  }
}

export const append = (store: LogStore, text: string, position: number, sync = true) =>
  store.append(Buffer.from(text), { position, sync });

export async function getText(store: LogStore): Promise<string> {
  const stats = await store.stat();
  return (await store.read(0, stats?.size ?? 0)).toString();
}
