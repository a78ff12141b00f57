import type { Ids } from "@tau/ai";

/** Ids that count up, the same in every run. They look like UUIDs, and their first eight digits differ. */
export function createSequentialIds(): Ids {
  let last = 0;
  return () => `1d${(++last).toString(16).padStart(6, "0")}-0000-4000-8000-000000000000`;
}
