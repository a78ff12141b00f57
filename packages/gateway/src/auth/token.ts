/** Tokens: how they are made, and how what a client shows is compared with one. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 random bits, in characters that need no quoting anywhere. */
export const createToken = (): string => randomBytes(32).toString("base64url");

/** Shorter ones were not made by `createToken`. */
export const minTokenLength = 43;

/** The time that it takes says nothing about where two texts differ. */
export const isSameSecret = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

/** The same as `createProof` of the protocol, without waiting. */
export function isProof(
  token: string,
  { nonce, deviceId }: { nonce: string; deviceId: string },
  proof: string,
): boolean {
  const text = `tau-gateway-connect-1\n${deviceId}\n${nonce}`;
  return isSameSecret(createHmac("sha256", token).update(text).digest("hex"), proof);
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
