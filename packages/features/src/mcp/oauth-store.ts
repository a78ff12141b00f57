/** Logins to servers, in the storage of keys and logins. Each belongs to one entry and the address that it had. */
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { isRecord } from "@tau/ai/internal";
import type { AuthStorage, Credential } from "@tau/config/auth";
import type { HttpTarget, McpEntry } from "./entry.ts";

export interface McpLogin {
  readonly tokens: StoredOAuthTokens;
  readonly client: StoredOAuthClientInformation;
  /** The authorization server, so that tokens are renewed where they came from, whatever the server says later. */
  readonly discovery: OAuthDiscoveryState | undefined;
}

type Owner = Pick<McpEntry, "name" | "hash">;

/** Different for entries of the same name from other places or with other addresses. */
const getLoginName = ({ name, hash }: Owner): string => `mcp:${name}:${hash.slice(0, 16)}`;

/** Assumed where the server does not say how long a token is valid; it is renewed when the server refuses it. */
const defaultLifetimeSeconds = 3_600;

/** Undefined if there is none for this entry and this address. */
export const readLogin = async (auth: AuthStorage, entry: Owner, target: HttpTarget): Promise<McpLogin | undefined> =>
  parseLogin(await auth.get(getLoginName(entry)), entry, target);

function parseLogin(credential: Credential | undefined, entry: Owner, { url }: HttpTarget): McpLogin | undefined {
  if (credential?.type !== "oauth") return undefined;
  const { access, refresh, mcp } = credential;
  if (!isRecord(mcp) || mcp["entry"] !== entry.hash || mcp["address"] !== url || !isRecord(mcp["client"]))
    return undefined;
  const { tokenType, scope, issuer, client, discovery } = mcp;
  return {
    tokens: {
      access_token: access,
      token_type: typeof tokenType === "string" ? tokenType : "Bearer",
      ...(refresh !== "" && { refresh_token: refresh }),
      ...(typeof scope === "string" && { scope }),
      ...(typeof issuer === "string" && { issuer }),
    },
    client: client as unknown as StoredOAuthClientInformation,
    discovery: isRecord(discovery) ? (discovery as unknown as OAuthDiscoveryState) : undefined,
  };
}

interface LoginOwner {
  entry: Owner;
  target: HttpTarget;
  nowMs: number;
}

export async function writeLogin(auth: AuthStorage, owner: LoginOwner, login: McpLogin): Promise<void> {
  await auth.set(getLoginName(owner.entry), toCredential(owner, login));
}

/** Calls `work` with the login while no other program changes it, and stores or removes what `work` resolves with. */
export async function changeLogin(
  auth: AuthStorage,
  owner: LoginOwner,
  work: (login: McpLogin | undefined) => Promise<McpLogin | "remove" | undefined>,
): Promise<void> {
  await auth.change(getLoginName(owner.entry), async (credential) => {
    const next = await work(parseLogin(credential, owner.entry, owner.target));
    return typeof next === "object" ? toCredential(owner, next) : next;
  });
}

function toCredential({ entry, target, nowMs }: LoginOwner, { tokens, client, discovery }: McpLogin): Credential {
  const { access_token, refresh_token = "", token_type, scope, issuer, expires_in = defaultLifetimeSeconds } = tokens;
  return {
    type: "oauth",
    access: access_token,
    refresh: refresh_token,
    expires: nowMs + expires_in * 1_000,
    expires_in,
    host: new URL(target.url).host,
    mcp: { entry: entry.hash, address: target.url, tokenType: token_type, scope, issuer, client, discovery },
  };
}

/** Resolves to whether there was one. */
export const removeLogin = async (auth: AuthStorage, entry: Owner): Promise<boolean> =>
  await auth.remove(getLoginName(entry));
