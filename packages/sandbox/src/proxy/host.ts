/** The host of a request to the proxy. It is parsed once, and what was parsed is what is compared, resolved and dialled. Pure. */
import { isIPv4, isIPv6 } from "node:net";

type ProxyHost =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "address"; readonly address: string; readonly family: 4 | 6 };

export interface ProxyTarget {
  readonly host: ProxyHost;
  readonly port: number;
}

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Resolvers read such names as addresses in other notations, such as 0x7f000001. */
const endsInNumber = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/**
 * A name of ASCII letters, digits and dashes, or an address in its usual notation (IPv6 in brackets). Undefined for
 * anything else: other notations of addresses, names in other scripts, a dot at the end, or a name with a user in it.
 */
export function parseHost(text: string): ProxyHost | undefined {
  const lower = text.toLowerCase();
  if (isIPv4(lower)) return { kind: "address", address: lower, family: 4 };
  if (lower.startsWith("[") && lower.endsWith("]")) {
    const address = lower.slice(1, -1);
    return isIPv6(address) && !address.includes("%") ? { kind: "address", address, family: 6 } : undefined;
  }
  if (lower.length > 253 || endsInNumber.test(lower)) return undefined;
  return lower.split(".").every((part) => label.test(part)) ? { kind: "name", name: lower } : undefined;
}

/** `host:port`, or `host` where there is a default port. */
export function parseTarget(text: string, defaultPort?: number): ProxyTarget | undefined {
  const [, hostText = "", portText] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = parseHost(hostText);
  const port = portText === undefined ? defaultPort : Number(portText);
  return host && port !== undefined && port > 0 && port < 65_536 ? { host, port } : undefined;
}

export function formatHost(host: ProxyHost): string {
  if (host.kind === "name") return host.name;
  return host.family === 6 ? `[${host.address}]` : host.address;
}

export const formatTarget = ({ host, port }: ProxyTarget): string => `${formatHost(host)}:${port}`;
