import type { GatewayClient } from "@tau/protocol/client";
import type { GatewayScope } from "@tau/protocol/gateway";

/** Whether this device may do something. Without a connection that is not known, and the gateway decides it later. */
export const hasScope = (client: GatewayClient, scope: GatewayScope): boolean =>
  client.hello?.scopes.includes(scope) ?? true;
