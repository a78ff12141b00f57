/** The hosts that may be connected to: names are resolved here, and what was checked is what is dialled. */
import { isPublicAddress, type Address, parseHost } from "@tau/sandbox/internal";
import { WebFailure } from "./failure.ts";

/** Finds all addresses of a name. */
export type Lookup = (name: string) => Promise<readonly Address[]>;

/** Whether a list names a host: `name`, `name:port`, `*.name`; an address of IPv6 in brackets. Case does not matter. Pure. */
export function isListed(url: URL, list: readonly string[]): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const host = url.hostname.toLowerCase();
  return list.some((entry) => {
    const [, name = "", entryPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry.trim().toLowerCase()) ?? [];
    if (name === "" || (entryPort !== undefined && entryPort !== port)) return false;
    return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
  });
}

/** Parses an address that can be read. Throws a `WebFailure`. */
export function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new WebFailure("invalid_address", "The address has to begin with http:// or https://.");
  if (url.username !== "" || url.password !== "")
    throw new WebFailure("invalid_address", "The address has a user name or a password in it, which is not sent.");
  // Places in a page are not sent.
  url.hash = "";
  // A dot at the end would make another name of the same host.
  if (!parseHost(url.hostname)) throw new WebFailure("invalid_address", `${url.hostname} is not the name of a host.`);
  return url;
}

/**
 * Resolves the host of an address. Every address that it has must be on the internet, unless `allowedPrivateHosts` names it.
 * Empty where a name has none, for a proxy that knows it. Throws a `WebFailure`.
 */
export async function resolveHost(
  url: URL,
  { lookup, allowedPrivateHosts }: { lookup: Lookup; allowedPrivateHosts: readonly string[] },
): Promise<readonly Address[]> {
  const host = parseHost(url.hostname);
  if (!host) throw new WebFailure("invalid_address", `${url.hostname} is not the name of a host.`);
  const addresses = host.kind === "address" ? [host] : await lookup(host.name).catch(() => []);
  if (addresses.every(isPublicAddress) || isListed(url, allowedPrivateHosts)) return addresses;
  throw new WebFailure(
    "private_address",
    `${url.host} is in this machine or its own network, which web_fetch does not read. The user can allow it with the setting web.allowedPrivateHosts.`,
  );
}
