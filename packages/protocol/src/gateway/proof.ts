/** How a client shows that it has a token without sending it. For browsers and Node. */

export interface ProofInput {
  nonce: string;
  deviceId: string;
}

/** What is signed. A device's id is part of it, so that a proof cannot be used in another device's name. */
const toText = ({ nonce, deviceId }: ProofInput): string => `tau-gateway-connect-1\n${deviceId}\n${nonce}`;

/** A token as a key that signs. It cannot be exported again, so a page may store it where scripts can reach it. */
export async function importToken(token: string): Promise<CryptoKey> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return await crypto.subtle.importKey("raw", new TextEncoder().encode(token), algorithm, false, ["sign"]);
}

/** HMAC-SHA-256 with the token's characters as the key, in hexadecimal digits. */
export async function createProof(key: CryptoKey, input: ProofInput): Promise<string> {
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(toText(input)));
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
