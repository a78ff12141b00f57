/** Signatures of requests between a webhook channel and the program on its other side. Pure. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** A request that is older or newer is refused, so that nobody can repeat it later. */
export const maxAgeMs = 5 * 60_000;

/** The hexadecimal HMAC-SHA-256 of the time in seconds, a dot and the body. */
export const sign = (secret: string, seconds: string, body: string | Uint8Array): string =>
  createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex");

interface SignedRequest {
  readonly secret: string;
  readonly timestamp: string | string[] | undefined;
  readonly signature: string | string[] | undefined;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

export function isSigned({ secret, timestamp, signature, body, nowMs }: SignedRequest): boolean {
  if (typeof timestamp !== "string" || typeof signature !== "string" || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > maxAgeMs) return false;
  const [given, right] = [Buffer.from(signature), Buffer.from(`v1=${sign(secret, timestamp, body)}`)];
  return given.length === right.length && timingSafeEqual(given, right);
}
