/** Checks that a request comes from Slack. Pure. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { ReceivedRequest } from "@tau/extensions";

/** A request that is older or newer is refused, so that nobody can repeat it later. */
const maxAgeMs = 5 * 60_000;

/** Slack's signature of a body: the HMAC-SHA-256 of the version, the time in seconds and the body. */
export const signSlackRequest = (secret: string, seconds: string, body: string | Uint8Array): string =>
  `v0=${createHmac("sha256", secret).update(`v0:${seconds}:`).update(body).digest("hex")}`;

export function isFromSlack({ headers, body }: ReceivedRequest, secret: string, nowMs: number): boolean {
  const [seconds, signature] = [headers["x-slack-request-timestamp"], headers["x-slack-signature"]];
  if (typeof seconds !== "string" || typeof signature !== "string" || !/^\d{1,12}$/.test(seconds)) return false;
  if (Math.abs(nowMs - Number(seconds) * 1_000) > maxAgeMs) return false;
  const [received, expected] = [Buffer.from(signature), Buffer.from(signSlackRequest(secret, seconds, body))];
  return received.length === expected.length && timingSafeEqual(received, expected);
}
