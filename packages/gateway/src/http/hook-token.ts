/** The token of a webhook. It opens this one door, and says nothing of the token that it was made from. */
import { createHmac } from "node:crypto";
import type { GatewaySettings } from "../parts.ts";

/** A new token of the account is a new token of every webhook whose settings name none. */
export const createHookToken = (accountToken: string, name: string): string =>
  createHmac("sha256", accountToken).update(`tau-gateway-hook-1\n${name}`).digest("base64url");

/** The token that counts for a webhook; undefined if there is no such webhook. */
export function findHookToken(
  hooks: GatewaySettings["hooks"],
  name: string,
  accountToken: string | undefined,
): string | undefined {
  const hook = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
  if (!hook) return undefined;
  return hook.token ?? (accountToken === undefined ? undefined : createHookToken(accountToken, name));
}
