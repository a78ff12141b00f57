/** Remembers which streams failed because a limit of all sessions is reached: who asked may have to end its run. */
import type { CostPeriod } from "./cost-limits.ts";

const refused = new WeakMap<object, CostPeriod>();

export function markRefused<T extends object>(stream: T, period: CostPeriod): T {
  refused.set(stream, period);
  return stream;
}

/** Returns the limit because of which a request was not sent. */
export const findReachedLimit = (stream: object): CostPeriod | undefined => refused.get(stream);
