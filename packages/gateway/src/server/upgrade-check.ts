/** Which requests may become WebSockets. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "@tau/ai";
import { GatewayError } from "../errors.ts";
import { type AllowedAddresses, checkAddresses } from "./check-request.ts";
import type { ServerLimits } from "./limits.ts";
import { RateLimit } from "./rate-limit.ts";
import type { Sockets } from "./sockets.ts";

export interface UpgradeCheckParts {
  serverLimits: ServerLimits;
  sockets: Sockets;
  clock: Clock;
  getAddresses: () => AllowedAddresses;
  isAccepting: () => boolean;
}

/** `key` is what limits count by. Throws what an upgrade is refused for. */
export type UpgradeCheck = (request: IncomingMessage, key: string) => void;

export function createUpgradeCheck(parts: UpgradeCheckParts): UpgradeCheck {
  const { serverLimits, sockets, clock, getAddresses, isAccepting } = parts;
  const { connectsPerSecond: perSecond, connectBurst: burst } = serverLimits;
  const connects = new RateLimit({ perSecond, burst }, clock);
  return ({ rawHeaders, url, method }, key) => {
    const refusal = checkAddresses(rawHeaders, getAddresses());
    if (refusal) throw new GatewayError("forbidden", refusal.message);
    if (!isAccepting()) throw new GatewayError("unavailable", "The gateway stops.");
    if (url !== "/" || method !== "GET")
      throw new GatewayError("not_found", "WebSockets are opened at `/`, without a query.");
    const retryAfterMs = connects.take(key);
    if (retryAfterMs === 0) return sockets.makeRoom(key, serverLimits);
    const message = "Too many connections were opened in a short time.";
    throw new GatewayError("rate_limited", message, { retryAfterMs: Math.max(retryAfterMs, 1_000) });
  };
}
