/** A client for the time of one HTTP request. */
import type { ServerResponse } from "node:http";
import type { GatewayScope } from "@tau/protocol/gateway";
import { callSoon, type Client } from "../client.ts";

interface HttpClientOptions {
  connectionId: string;
  deviceId: string;
  scopes: readonly GatewayScope[];
}

export function createHttpClient(
  { connectionId, deviceId, scopes }: HttpClientOptions,
  response: ServerResponse,
): Client {
  return {
    connectionId,
    deviceId,
    scopes: new Set(scopes),
    abilities: { approvals: false, ui: false },
    setAbilities: () => {},
    // Frames are for WebSockets; what this client asked for comes as the response.
    send: () => {},
    bufferedBytes: 0,
    close: () => void response.destroy(),
    onClosed(listener) {
      if (response.closed) return callSoon(listener);
      response.once("close", listener);
      return () => void response.off("close", listener);
    },
  };
}
