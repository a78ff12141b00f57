/**
 * The contract of every `Storage`, as cases for any test runner:
 *
 *     for (const { name, run } of storageContract("my storage", { open, abandon })) test(name, run);
 */
import { listCollectionCases } from "./storage-collection-cases.ts";
import { listLogCases } from "./storage-log-cases.ts";
import { type StorageUnderTest, withPlace } from "./storage-place.ts";
import { listSessionCases } from "./storage-session-cases.ts";

export type { StorageUnderTest };

export interface StorageContractCase {
  name: string;
  run: () => Promise<void>;
}

export function storageContract(name: string, storage: StorageUnderTest): StorageContractCase[] {
  const cases = [...listLogCases(), ...listCollectionCases(), ...listSessionCases()];
  return cases.map(([law, run], index) => ({
    name: `${name}: ${law}`,
    run: () => withPlace(storage, `case-${index + 1}`, run),
  }));
}
