/** The addresses that the browser may be sent to. Pure. */
import { isPublicAddress, parseHost } from "@tau/sandbox/internal";
import { BrowserFailure } from "./failure.ts";

/** `blank`: an empty page. `loopback`: this machine, as the browser sees it. `host`: any other. */
type Address =
  | { readonly kind: "blank"; readonly url: string }
  | { readonly kind: "loopback" | "host"; readonly url: string; readonly hostname: string; readonly entry: string };

/** Parses an address. Throws a `BrowserFailure` for one that the browser is not sent to. */
export function parseAddress(text: string, allowedHosts: readonly string[]): Address {
  if (text === "about:blank") return { kind: "blank", url: text };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "file:")
    throw new BrowserFailure(
      "address",
      "Files are not opened in the browser: such a page could frame other files. Start a server in the workspace, and open it at http://localhost.",
    );
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new BrowserFailure("address", "The address has to begin with http:// or https://, or be about:blank.");
  if (url.username !== "" || url.password !== "")
    throw new BrowserFailure("address", "The address has a user name or a password in it, which is not sent.");
  return { ...parseTarget(url.hostname, url.port, allowedHosts), url: url.href };
}

/** Parses a host beside the address, such as `cdn.example.org` or `cdn.example.org:8443`. Throws a `BrowserFailure`. */
export function parseHostName(text: string, allowedHosts: readonly string[]) {
  const url = /^[^\s/?#@]+$/.test(text) && URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : undefined;
  if (!url) throw new BrowserFailure("address", `${text.slice(0, 100)} is not the name of a host.`);
  return parseTarget(url.hostname, url.port, allowedHosts);
}

function parseTarget(hostname: string, port: string, allowedHosts: readonly string[]) {
  const host = parseHost(hostname);
  if (!host) throw new BrowserFailure("address", `${hostname.slice(0, 100)} is not the name of a host.`);
  const entry = port === "" ? hostname : `${hostname}:${port}`;
  if (isLoopback(hostname)) return { kind: "loopback" as const, hostname, entry };
  if (host.kind === "address" && !isPublicAddress(host) && !allowedHosts.includes(entry))
    throw new BrowserFailure(
      "address",
      `${hostname} is an address of a private network, which the browser does not reach. The user can allow ${entry} with the setting browser.allowedHosts.`,
    );
  return { kind: "host" as const, hostname, entry };
}

/** Browsers take all of these for the machine that they run on. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  /^127(?:\.\d{1,3}){3}$/.test(hostname);

/** Whether a list of hosts covers an entry: `name`, `name:port`, `*.name`. */
export function isListed(hostname: string, entry: string, list: readonly string[]): boolean {
  return list.some((each) => {
    const text = each.trim().toLowerCase();
    if (text === entry || text === hostname) return true;
    return text.startsWith("*.") && (hostname.endsWith(text.slice(1)) || entry.endsWith(text.slice(1)));
  });
}
