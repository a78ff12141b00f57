import { ownDeviceId } from "@tau/protocol/node";
import { gatewayScopes } from "@tau/protocol/gateway";
import type { Client } from "./client.ts";

/** A client that stands for the gateway's own account, where no connection asks. It reads no frames and never leaves. */
export const createOwnClient = (connectionId: string): Client => ({
  connectionId,
  deviceId: ownDeviceId,
  scopes: new Set(gatewayScopes),
  abilities: { approvals: false, ui: false },
  setAbilities: () => {},
  send: () => {},
  bufferedBytes: 0,
  close: () => {},
  onClosed: () => () => {},
});
