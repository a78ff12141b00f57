/** How the key of a request is used: by its device, for one request, where the request has an effect. */
import { methodScopes, type GatewayMethod } from "@tau/protocol/gateway";
import type { Client } from "../client.ts";
import { GatewayError } from "../errors.ts";
import type { GatewayParts } from "../parts.ts";
import { getDigest } from "./digest.ts";
import type { Recovered } from "./idempotency-keys.ts";

const maxKeyLength = 200;

/**
 * Calls `work` with the parameters, without the key, unless this request was sent before. `requestKey` names the request
 * among those of all devices.
 */
export async function callOnce(
  { parts, client }: { parts: GatewayParts; client: Client },
  method: GatewayMethod,
  { idempotencyKey: key, ...params }: Record<string, unknown>,
  work: (params: Record<string, unknown>, requestKey?: string) => Promise<unknown>,
): Promise<unknown> {
  if (key === undefined) return await work(params);
  if (typeof key !== "string" || key === "" || key.length > maxKeyLength) {
    const text = `idempotencyKey has to be a text of 1 to ${maxKeyLength} characters.`;
    throw new GatewayError("invalid_parameters", text);
  }
  const requestKey = `${client.deviceId}\n${key}`;
  // What only reads gives the present answer.
  if (method === "inbox.get") return await work({ ...params, idempotencyKey: key }, requestKey);
  // The address that it answers with is kept nowhere.
  if (methodScopes[method] === "read" || method === "shares.create") return await work(params);
  return await parts.idempotencyKeys.once(requestKey, {
    body: getDigest({ method, params }),
    run: () => work(params, requestKey),
    ...(messageMethods.has(method) && { recover: () => recoverMessage(parts, requestKey) }),
  });
}

/** Methods that bring a message. Its outcome is in the inbox, also after a crash. */
const messageMethods: ReadonlySet<GatewayMethod> = new Set(["session.prompt", "session.steer", "session.follow_up"]);

/** Finds the message that a request brought before the gateway was stopped or another node was lost. */
export async function recoverMessage({ inbox, cluster }: GatewayParts, requestKey: string): Promise<Recovered> {
  const message = cluster ? await cluster.inbox.findRequest(requestKey) : inbox.findRequest(requestKey);
  if (message) return { kind: "payload", payload: { disposition: "accepted", ...message } };
  // A node that is lost, but not dead, may still store it.
  return { kind: cluster ? "unknown" : "no_effect" };
}
