/** Tokens: how they are made, and what is kept of one. What a client shows is compared with that. */
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  randomBytes,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { type ProofInput, seedPrefix, seedText, toProofText } from "@tau/protocol/gateway";

/** 256 random bits, in characters that need no quoting anywhere. */
export const createToken = (): string => randomBytes(32).toString("base64url");

/** Shorter ones were not made by `createToken`. */
export const minTokenLength = 43;

/** The time that it takes says nothing about where two texts differ. */
export const isSameSecret = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

/** The public half of a token's key: 32 bytes in base64url. The token cannot be found from it. See `importToken`. */
export function toPublicKey(token: string): string {
  const seed = createHmac("sha256", token).update(seedText).digest();
  const key = Buffer.concat([Buffer.from(seedPrefix, "hex"), seed]);
  return createPublicKey(createPrivateKey({ key, format: "der", type: "pkcs8" })).export({ format: "jwk" }).x!;
}

/** Whether a text has the form of a public key. */
export const isPublicKey = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** Whether the holder of the token made a proof for this nonce; see `createProof`. */
export function isProof(publicKey: string, input: ProofInput, proof: string): boolean {
  if (!/^[\da-f]{128}$/.test(proof)) return false;
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
  return verify(null, Buffer.from(toProofText(input)), key, Buffer.from(proof, "hex"));
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
