/** How the key of a request is used: by its device, for one request, where the request has an effect. */
import { createHash } from "node:crypto";
import { isRecord } from "@tau/ai/internal";
import { methodScopes, type GatewayMethod } from "@tau/protocol/gateway";
import type { Client } from "../client.ts";
import { GatewayError } from "../errors.ts";
import type { GatewayParts } from "../parts.ts";

const maxKeyLength = 200;

/** Calls `work` with the parameters, without the key, unless this request was sent before. */
export async function callOnce(
  { parts, client }: { parts: GatewayParts; client: Client },
  method: GatewayMethod,
  { idempotencyKey: key, ...params }: Record<string, unknown>,
  work: (params: Record<string, unknown>) => Promise<unknown>,
): Promise<unknown> {
  if (key === undefined) return await work(params);
  if (typeof key !== "string" || key === "" || key.length > maxKeyLength) {
    const text = `idempotencyKey has to be a text of 1 to ${maxKeyLength} characters.`;
    throw new GatewayError("invalid_parameters", text);
  }
  // What only reads gives the present answer.
  if (methodScopes[method] === "read") return await work(params);
  const name = `${client.deviceId}\n${key}`;
  return await parts.idempotencyKeys.once(name, getDigest({ method, params }), () => work(params));
}

/** The same for the same content, whatever the order of its fields. */
export const getDigest = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value, (_key, part: unknown) => (isRecord(part) ? sortFields(part) : part)))
    .digest("base64url");

const sortFields = (value: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
