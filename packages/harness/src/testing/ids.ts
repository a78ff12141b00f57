import type { Ids } from "@tau/ai";

/**
 * Ids that count up, the same in every run of a test. They look like UUIDs, and their first eight digits differ: `1d…`,
 * which is seldom anything else.
 */
export function createSequentialIds(): Ids {
  let last = 0;
  return () => `1d${(++last).toString(16).padStart(6, "0")}-0000-4000-8000-000000000000`;
}
