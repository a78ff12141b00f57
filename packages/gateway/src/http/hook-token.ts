/** The token of a webhook. It opens this one door, and says nothing of the token that it was made from. */
import { createHash, createHmac } from "node:crypto";
import { isSameSecret } from "../auth/token.ts";
import type { GatewaySettings } from "../settings.ts";

/** A new token of the account is a new token of every webhook whose settings name none. */
export const createHookToken = (accountToken: string, name: string): string =>
  createHmac("sha256", accountToken).update(`tau-gateway-hook-1\n${name}`).digest("base64url");

/** Begins a token in the settings of which only the SHA-256 is there. */
const digestMark = "sha256:";

type HookToken =
  | { kind: "none" }
  | { kind: "token"; token: string }
  /** SHA-256 in hexadecimal digits. */
  | { kind: "digest"; digest: string };

/** The token that is valid for a webhook, as far as it is known here; `none` if there is no such webhook. */
export function findHookToken(
  hooks: GatewaySettings["hooks"],
  name: string,
  getAccountToken: () => string | undefined,
): HookToken {
  const hook = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
  if (!hook) return { kind: "none" };
  if (hook.token?.startsWith(digestMark)) return { kind: "digest", digest: hook.token.slice(digestMark.length) };
  const accountToken = hook.token === undefined ? getAccountToken() : undefined;
  const token = hook.token ?? (accountToken === undefined ? undefined : createHookToken(accountToken, name));
  return token === undefined ? { kind: "none" } : { kind: "token", token };
}

/** Pure. */
export function isHookToken(right: HookToken, token: string): boolean {
  switch (right.kind) {
    case "none":
      return false;
    case "token":
      return isSameSecret(right.token, token);
    case "digest":
      return isSameSecret(right.digest, createHash("sha256").update(token).digest("hex"));
  }
}
