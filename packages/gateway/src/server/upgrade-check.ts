/** Which requests may become WebSockets. */
import type { IncomingMessage } from "node:http";
import { GatewayError } from "../errors.ts";
import { type AllowedAddresses, checkAddresses, type Refusal } from "./check-request.ts";
import type { ServerLimits } from "./limits.ts";
import type { Sockets } from "./sockets.ts";

interface UpgradeCheckParts {
  serverLimits: ServerLimits;
  sockets: Sockets;
  getAddresses: () => AllowedAddresses;
  isAccepting: () => boolean;
}

/**
 * `key` is what limits count by. Throws what an upgrade is refused for. Returns the refusal if only the origin is wrong: a page
 * cannot read the answer to an upgrade that fails, so it is reported in the WebSocket.
 */
type UpgradeCheck = (request: IncomingMessage, key: string) => Refusal | undefined;

export function createUpgradeCheck(parts: UpgradeCheckParts): UpgradeCheck {
  const { serverLimits, sockets, getAddresses, isAccepting } = parts;
  return ({ rawHeaders, url, method }, key) => {
    const refusal = checkAddresses(rawHeaders, getAddresses());
    if (refusal && refusal.origin === undefined) throw new GatewayError("forbidden", refusal.message);
    if (!isAccepting()) throw new GatewayError("unavailable", "The gateway stops.");
    if (url !== "/" || method !== "GET")
      throw new GatewayError("not_found", "WebSockets are opened at `/`, without a query.");
    if (refusal) return refusal;
    // However many come, none is refused: the owner may have the address of those who flood the gateway.
    sockets.makeRoom(key, serverLimits);
    return undefined;
  };
}
