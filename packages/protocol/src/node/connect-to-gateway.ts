/** A client for the gateway of this account, without a step by hand. */
import { homedir } from "node:os";
import { join } from "node:path";
import { GatewayClientError } from "../client/errors.ts";
import { GatewayClient, type GatewayClientOptions } from "../client/gateway-client.ts";
import type { ClientSocket } from "../client/connection.ts";
import { WebSocket } from "../client/web-socket-node.ts";
import { findGateway, readAddress } from "./find-gateway.ts";
import { createPinnedSocket } from "./pinned-socket.ts";

export interface ConnectToGatewayOptions extends Partial<Omit<GatewayClientOptions, "key" | "deviceId">> {
  /** The directory with the user's settings. Default: `TAU_DIR`, or `~/.tau`. */
  agentDir?: string;
}

/**
 * Finds the gateway and connects. With `url`, the token of this account is used for that address. Rejects with a
 * `GatewayClientError`: `not_found` if no gateway runs, or what the first try failed with.
 */
export async function connectToGateway({ agentDir, ...options }: ConnectToGatewayOptions = {}): Promise<GatewayClient> {
  const directory = agentDir ?? getAgentDir();
  const gateway = await findGateway(directory);
  if (!gateway) {
    const message = "No gateway runs for this account. Start one with `tau gateway`.";
    throw new GatewayClientError({ code: "not_found", message, retryable: true });
  }
  const { url = gateway.url } = options;
  const client = new GatewayClient({
    ...(url === gateway.url && { createSocket: (address: string) => createOwnSocket(address, directory) }),
    ...options,
    url,
    deviceId: gateway.deviceId,
    key: gateway.token,
  });
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

/** When it was started again, the gateway of this account may listen elsewhere and show another certificate. */
function createOwnSocket(lastUrl: string, agentDir: string): ClientSocket {
  const { url = lastUrl, fingerprint } = readAddress(agentDir);
  return fingerprint === undefined ? (new WebSocket(url) as ClientSocket) : createPinnedSocket(url, fingerprint);
}

const getAgentDir = (): string => process.env["TAU_DIR"] || join(homedir(), ".tau");
