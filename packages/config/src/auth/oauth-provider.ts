/** A provider with an OAuth login, as data. */
import { HarnessError } from "@tau/protocol";
import { isLoopback } from "./key-host.ts";

export interface OAuthProvider {
  /** The provider's id, as in `auth.json` and in models. */
  id: string;
  /** The display name. */
  name: string;
  /** Identifies the program. It is not a secret. Empty where the login has none. */
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
  /** A company may have a server of its own: `{domain}` in the addresses. The user is asked for it. */
  domain?: { default: string; question: string };
  /** The token of the login is exchanged for the one that requests need, again each time that one expires. */
  exchange?: TokenExchange;
  /** The login serves those models of the provider that another provider has too, in the way of that one. */
  modelsOf?: string;
}

/** `GET url` with the token of the login. The answer has the other token, and the address that it is for. */
export interface TokenExchange {
  url: string;
  /** The path below that address that lists the models of the account. */
  modelsPath: string;
}

export type BodyFormat = "form" | "json";

/** Authorization code with PKCE (RFC 7636, S256). */
export interface BrowserLogin {
  authorizeUrl: string;
  /** `key` has no client and no state, and the code is exchanged for a key that does not expire. Default `standard`. */
  dialect?: "standard" | "key";
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

/** Throws for a provider that has no safe login. */
export function checkOAuthProvider(provider: OAuthProvider): void {
  const { id, clientId, tokenUrl, browser, device, exchange } = provider;
  const refuse = (problem: string) => {
    throw new HarnessError("invalid_input", `The OAuth provider ${JSON.stringify(id)} ${problem}.`);
  };
  if (id.trim() === "") refuse("has no id");
  if (clientId === "" && browser?.dialect !== "key") refuse("has no client id");
  if (!browser && !device) refuse("has no login: set browser, device, or both");
  if (browser && !browser.redirect.path.startsWith("/")) refuse('has a redirect path that does not begin with "/"');
  const urls = [tokenUrl, browser?.authorizeUrl, device?.startUrl, exchange?.url];
  if (device?.dialect === "openai") urls.push(device.pollUrl, device.verificationUrl, device.redirectUrl);
  for (const url of urls) {
    if (url === undefined) continue;
    const address = provider.domain ? url.replaceAll("{domain}", provider.domain.default) : url;
    if (!isSafeUrl(address)) refuse(`has the address ${JSON.stringify(url)}: use https`);
  }
}

/** Encrypted, or on this machine. */
export function isSafeUrl(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}
