/**
 * How a client shows that it has a token without sending it. For browsers and Node. A token is the seed of an Ed25519 key:
 * the device signs with it, and the gateway keeps the public half alone, with which nobody can connect.
 */

/** A key of Web Crypto. Node's types have no global name for it. */
export type SigningKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

export interface ProofInput {
  nonce: string;
  deviceId: string;
}

/** Builds the text that is signed. A device's id is part of it, so that a proof cannot be used in another device's name. */
export const toProofText = ({ nonce, deviceId }: ProofInput): string => `tau-gateway-connect-2\n${deviceId}\n${nonce}`;

/** The text whose HMAC-SHA-256, with the token's characters as the key, is the seed. */
export const seedText = "tau-gateway-key-1";

/** The bytes before the 32 bytes of a seed in PKCS #8 (RFC 8410), in hexadecimal digits. */
export const seedPrefix = "302e020100300506032b657004220420";

const hmac = { name: "HMAC", hash: "SHA-256" };
const toBytes = (text: string) => new TextEncoder().encode(text);

/**
 * A token as a key that signs. It cannot be exported again, so a page may store it where scripts can reach it. Rejects where
 * the platform has no Ed25519.
 */
export async function importToken(token: string): Promise<SigningKey> {
  return await deriveKey(await crypto.subtle.importKey("raw", toBytes(token), hmac, false, ["sign"]));
}

/** Derives the signing key of a token that is only there as a key for HMAC-SHA-256, as pages stored it before. */
export async function deriveKey(tokenKey: SigningKey): Promise<SigningKey> {
  const seed = new Uint8Array(await crypto.subtle.sign("HMAC", tokenKey, toBytes(seedText)));
  const prefix = Uint8Array.from(seedPrefix.match(/../g)!, (digits) => Number.parseInt(digits, 16));
  return await crypto.subtle.importKey("pkcs8", Uint8Array.of(...prefix, ...seed), "Ed25519", false, ["sign"]);
}

/** An Ed25519 signature, in hexadecimal digits. */
export async function createProof(key: SigningKey, input: ProofInput): Promise<string> {
  const signature = await crypto.subtle.sign("Ed25519", key, toBytes(toProofText(input)));
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
