/** Who can be logged in to, as data. Everything that differs between providers is here; what is done is elsewhere. */
import { HarnessError } from "../errors.ts";
import { isLoopback } from "./key-host.ts";

export interface OAuthProvider {
  /** The provider's id, as in `auth.json` and in models. */
  id: string;
  /** For people. */
  name: string;
  /** Public: it names the program, and is no secret. */
  clientId: string;
  scopes: readonly string[];
  tokenUrl: string;
  /** How requests to `tokenUrl` are written. Default `form`, as the standard says. */
  format?: BodyFormat;
  /** Absent where there is no way through a browser. */
  browser?: BrowserLogin;
  /** Absent where there is no way by device code. */
  device?: DeviceLogin;
  /** Fields to store, by where they are in the claims of the access token. */
  claims?: Readonly<Record<string, readonly string[]>>;
  /** Where its tokens may be sent. Default: the hosts of the provider's models. */
  hosts?: readonly string[];
}

export type BodyFormat = "form" | "json";

/** Authorization code with PKCE (RFC 7636, S256). */
export interface BrowserLogin {
  authorizeUrl: string;
  /** Sent along with what the standard asks for. */
  parameters?: Readonly<Record<string, string>>;
  redirect: {
    /** The one that is tried first; 0 for any. */
    port: number;
    /** The provider accepts no other port. Default false: any free one will do. */
    isFixed?: boolean;
    path: string;
    /** As the provider knows it. Default `localhost`. */
    host?: "localhost" | "127.0.0.1";
  };
  /** A page of the provider that shows the code, for who cannot be reached by a browser. */
  pasteRedirectUrl?: string;
  /** The exchange names the state too. Default false. */
  sendsState?: boolean;
}

/** `standard` is RFC 8628; `openai` gives a code that is exchanged like a browser's. */
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

/** Throws when a provider could not be logged in to safely. */
export function checkOAuthProvider(provider: OAuthProvider): void {
  const { id, clientId, tokenUrl, browser, device } = provider;
  const complain = (problem: string) => {
    throw new HarnessError("invalid_input", `The OAuth provider ${JSON.stringify(id)} ${problem}.`);
  };
  if (id.trim() === "") complain("has no id");
  if (clientId === "") complain("has no client id");
  if (!browser && !device) complain("has no way to log in: give it browser, device, or both");
  if (browser && !browser.redirect.path.startsWith("/")) complain('has a redirect path that does not begin with "/"');
  const urls = [tokenUrl, browser?.authorizeUrl, device?.startUrl];
  if (device?.dialect === "openai") urls.push(device.pollUrl, device.verificationUrl, device.redirectUrl);
  for (const url of urls) {
    if (url !== undefined && !isSafeUrl(url)) complain(`has the address ${JSON.stringify(url)}: use https`);
  }
}

/** Encrypted, or on this machine. */
export function isSafeUrl(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}
