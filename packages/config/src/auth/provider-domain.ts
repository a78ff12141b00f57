/** A login whose server may be a company's own. Pure. */
import type { OAuthProvider } from "./oauth-provider.ts";

/** The host that a user typed: bare, or in an address. Undefined for one that is not a host; the default for nothing. */
export function parseDomain(typed: string, defaultDomain: string): string | undefined {
  const text = typed.trim().toLowerCase();
  if (text === "") return defaultDomain;
  const address = text.includes("://") ? text : `https://${text}`;
  if (!URL.canParse(address)) return undefined;
  const { host, username, password } = new URL(address);
  return host !== "" && username === "" && password === "" ? host : undefined;
}

/** The provider with the addresses of one server. */
export function withDomain(provider: OAuthProvider, domain: string): OAuthProvider {
  const { device, exchange } = provider;
  const fill = (url: string) => url.replaceAll("{domain}", domain);
  return {
    ...provider,
    tokenUrl: fill(provider.tokenUrl),
    ...(device && { device: { ...device, startUrl: fill(device.startUrl) } }),
    ...(exchange && { exchange: { ...exchange, url: fill(exchange.url) } }),
  };
}

/** The provider with the server of a stored login. */
export function withStoredDomain(provider: OAuthProvider, stored: unknown): OAuthProvider {
  if (!provider.domain) return provider;
  return withDomain(provider, typeof stored === "string" ? stored : provider.domain.default);
}
