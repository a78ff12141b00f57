/** Secrets of one login attempt (RFC 7636). From the system's generator: a port for them would be a way to weaken them. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export interface Attempt {
  /** Proves that the answer belongs to this attempt. */
  state: string;
  /** Proves that who exchanges the code is who asked for it. */
  verifier: string;
  challenge: string;
}

export function newAttempt(): Attempt {
  const verifier = randomBytes(32).toString("base64url");
  return { state: randomBytes(32).toString("base64url"), verifier, challenge: toChallenge(verifier) };
}

export const toChallenge = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");

/** Takes equally long wherever they differ. */
export function isSameState(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return timingSafeEqual(a!, b!);
}
