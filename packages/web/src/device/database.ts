/** Stores what the page remembers between visits, in IndexedDB: it can hold keys that scripts can use but not read. */

const databaseName = "tau";
const storeName = "values";

export type StoredValues = {
  /** The device as the gateway knows it. The key cannot be exported. */
  device: { deviceId: string; key: CryptoKey };
  theme: "light" | "dark";
};

export async function readValue<Name extends keyof StoredValues>(name: Name): Promise<StoredValues[Name] | undefined> {
  return (await run("readonly", (store) => store.get(name))) as StoredValues[Name] | undefined;
}

export async function writeValue<Name extends keyof StoredValues>(
  name: Name,
  value: StoredValues[Name] | undefined,
): Promise<void> {
  await run("readwrite", (store) => (value === undefined ? store.delete(name) : store.put(value, name)));
}

async function run(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const database = await open();
  try {
    const transaction = database.transaction(storeName, mode);
    const request = act(transaction.objectStore(storeName));
    await new Promise<void>((resolve, reject) => {
      transaction.addEventListener("complete", () => resolve());
      transaction.addEventListener("error", () => reject(transaction.error));
      transaction.addEventListener("abort", () => reject(transaction.error));
    });
    return request.result;
  } finally {
    database.close();
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(databaseName, 1);
    request.addEventListener("upgradeneeded", () => request.result.createObjectStore(storeName));
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
