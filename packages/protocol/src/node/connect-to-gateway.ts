/** A client for the gateway of this account, without a step by hand. */
import { homedir } from "node:os";
import { join } from "node:path";
import { GatewayClientError } from "../client/errors.ts";
import { GatewayClient, type GatewayClientOptions } from "../client/gateway-client.ts";
import { findGateway } from "./find-gateway.ts";

export interface ConnectToGatewayOptions extends Partial<Omit<GatewayClientOptions, "key" | "deviceId">> {
  /** The directory with the user's settings. Default: `TAU_DIR`, or `~/.tau`. */
  agentDir?: string;
}

/**
 * Finds the gateway and connects. With `url`, the token of this account is used for that address. Rejects with a
 * `GatewayClientError`: `not_found` if no gateway runs, or what the first try failed with.
 */
export async function connectToGateway({ agentDir, ...options }: ConnectToGatewayOptions = {}): Promise<GatewayClient> {
  const found = await findGateway(agentDir ?? getAgentDir());
  if (!found) {
    const message = "No gateway runs for this account. Start one with `tau gateway`.";
    throw new GatewayClientError({ code: "not_found", message, retryable: true });
  }
  const client = new GatewayClient({ url: found.url, ...options, deviceId: found.deviceId, key: found.token });
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

const getAgentDir = (): string => process.env["TAU_DIR"] || join(homedir(), ".tau");
