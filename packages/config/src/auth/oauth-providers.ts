/** The OAuth providers, as data. */
import { HarnessError } from "@tau/protocol";
import { isLoopback } from "./key-host.ts";

export interface OAuthProvider {
  /** The provider's id, as in `auth.json` and in models. */
  id: string;
  /** The display name. */
  name: string;
  /** Identifies the program. It is not a secret. */
  clientId: string;
  scopes: readonly string[];
  tokenUrl: string;
  /** The format of requests to `tokenUrl`. Default `form`, as in the standard. */
  format?: BodyFormat;
  /** Absent if there is no login in a browser. */
  browser?: BrowserLogin;
  /** Absent if there is no login with a device code. */
  device?: DeviceLogin;
  /** Fields to store, each with its path in the claims of the access token. */
  claims?: Readonly<Record<string, readonly string[]>>;
  /** Where its tokens may be sent. Default: the hosts of the provider's models. */
  hosts?: readonly string[];
}

export type BodyFormat = "form" | "json";

/** Authorization code with PKCE (RFC 7636, S256). */
export interface BrowserLogin {
  authorizeUrl: string;
  /** Sent in addition to the parameters of the standard. */
  parameters?: Readonly<Record<string, string>>;
  redirect: {
    /** The port to try first; 0 for any. */
    port: number;
    /** Whether the provider accepts no other port. Default false. */
    isFixed?: boolean;
    path: string;
    /** The host as registered with the provider. Default `localhost`. */
    host?: "localhost" | "127.0.0.1";
  };
  /** A page of the provider that shows the code to paste. */
  pasteRedirectUrl?: string;
  /** Whether the exchange of the code sends the state too. Default false. */
  sendsState?: boolean;
}

/** `standard` is RFC 8628; `openai` returns a code that is exchanged like that of a browser. */
export type DeviceLogin =
  | { dialect: "standard"; startUrl: string }
  | { dialect: "openai"; startUrl: string; pollUrl: string; verificationUrl: string; redirectUrl: string };

const openai = "https://auth.openai.com";

export const oauthProviders: readonly OAuthProvider[] = [
  {
    id: "anthropic",
    name: "Anthropic (Claude Pro or Max)",
    clientId: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
    scopes: [
      "org:create_api_key",
      "user:profile",
      "user:inference",
      "user:sessions:claude_code",
      "user:mcp_servers",
      "user:file_upload",
    ],
    tokenUrl: "https://platform.claude.com/v1/oauth/token",
    format: "json",
    browser: {
      authorizeUrl: "https://claude.ai/oauth/authorize",
      parameters: { code: "true" },
      redirect: { port: 53_692, path: "/callback" },
      pasteRedirectUrl: "https://platform.claude.com/oauth/code/callback",
      sendsState: true,
    },
  },
  {
    id: "openai-codex",
    name: "OpenAI (ChatGPT Plus or Pro)",
    clientId: "app_EMoamEEZ73f0CkXaXp7hrann",
    scopes: ["openid", "profile", "email", "offline_access"],
    tokenUrl: `${openai}/oauth/token`,
    browser: {
      authorizeUrl: `${openai}/oauth/authorize`,
      parameters: { id_token_add_organizations: "true", codex_cli_simplified_flow: "true", originator: "tau" },
      redirect: { port: 1455, isFixed: true, path: "/auth/callback" },
    },
    device: {
      dialect: "openai",
      startUrl: `${openai}/api/accounts/deviceauth/usercode`,
      pollUrl: `${openai}/api/accounts/deviceauth/token`,
      verificationUrl: `${openai}/codex/device`,
      redirectUrl: `${openai}/deviceauth/callback`,
    },
    claims: { accountId: ["https://api.openai.com/auth", "chatgpt_account_id"] },
  },
];

/** Throws for a provider that has no safe login. */
export function checkOAuthProvider(provider: OAuthProvider): void {
  const { id, clientId, tokenUrl, browser, device } = provider;
  const refuse = (problem: string) => {
    throw new HarnessError("invalid_input", `The OAuth provider ${JSON.stringify(id)} ${problem}.`);
  };
  if (id.trim() === "") refuse("has no id");
  if (clientId === "") refuse("has no client id");
  if (!browser && !device) refuse("has no login: set browser, device, or both");
  if (browser && !browser.redirect.path.startsWith("/")) refuse('has a redirect path that does not begin with "/"');
  const urls = [tokenUrl, browser?.authorizeUrl, device?.startUrl];
  if (device?.dialect === "openai") urls.push(device.pollUrl, device.verificationUrl, device.redirectUrl);
  for (const url of urls) {
    if (url !== undefined && !isSafeUrl(url)) refuse(`has the address ${JSON.stringify(url)}: use https`);
  }
}

/** Encrypted, or on this machine. */
export function isSafeUrl(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}
