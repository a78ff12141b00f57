/** The secrets of one login (RFC 7636). They are always random: an injected generator could make them weaker. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export interface Attempt {
  /** Proves that the answer belongs to this login. */
  state: string;
  /** Proves that the program that exchanges the code is the one that asked for it. */
  verifier: string;
  challenge: string;
}

export function createAttempt(): Attempt {
  const verifier = randomBytes(32).toString("base64url");
  return { state: randomBytes(32).toString("base64url"), verifier, challenge: toChallenge(verifier) };
}

export const toChallenge = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");

/** Takes the same time wherever the two differ. */
export function isSameState(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return timingSafeEqual(a!, b!);
}
