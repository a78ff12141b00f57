/** Keeps requests within the limits of the day and of the month, whoever sends them. */
import type { StreamFn } from "@tau/agent";
import type { Model } from "@tau/ai";
import type { CostLimits } from "./cost-limits.ts";
import type { LimitedRequests } from "./limited-requests.ts";

interface CostLimitParts {
  /** Called for each request: settings change. */
  getLimits: () => CostLimits;
  /** Opens the ledger. Called once, for the first request that a limit applies to. */
  open: () => Promise<LimitedRequests>;
}

/** Without a limit, and for models without a cost, requests are sent as they are and nothing is loaded. */
export function withCostLimits(streamFn: StreamFn, parts: CostLimitParts): StreamFn {
  let opened: Promise<LimitedRequests> | undefined;
  return (...request) => {
    const limits = parts.getLimits();
    const isLimited = limits.day !== undefined || limits.month !== undefined;
    if (!isLimited || isFree(request[0].cost)) return streamFn(...request);
    return (opened ??= parts.open()).then((requests) => requests.ask(streamFn, request, limits));
  };
}

function isFree(cost: Model["cost"]): boolean {
  return [cost, ...(cost.tiers ?? [])].every(
    ({ input, output, cacheRead, cacheWrite }) => !(input > 0 || output > 0 || cacheRead > 0 || cacheWrite > 0),
  );
}
