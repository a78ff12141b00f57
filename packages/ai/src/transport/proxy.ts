import type { Env } from "../platform/platform.ts";

/** The proxy for a URL, according to the usual environment variables. Only HTTP proxies are used. Pure. */
export function findProxy(url: URL, env: Env): URL | undefined {
  const proxy = findProxySetting(url, env);
  return proxy && isSupported(proxy) ? proxy : undefined;
}

/** The proxy that is set for a URL, but cannot be used. */
export function findUnusedProxy(url: URL, env: Env): URL | undefined {
  const proxy = findProxySetting(url, env);
  return proxy && !isSupported(proxy) ? proxy : undefined;
}

const isSupported = ({ protocol }: URL) => protocol === "http:" || protocol === "https:";

function findProxySetting(url: URL, env: Env): URL | undefined {
  if (isLoopback(url.hostname) || isExcluded(url, env("NO_PROXY") ?? env("no_proxy") ?? "")) return undefined;
  const scheme = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const value = env(scheme) ?? env(scheme.toUpperCase()) ?? env("all_proxy") ?? env("ALL_PROXY");
  if (!value) return undefined;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  return URL.canParse(address) ? new URL(address) : undefined;
}

/** Loopback addresses are never proxied, because a proxy cannot reach them. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || /^(127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** `NO_PROXY`: a name matches itself and its subdomains, optionally only with a port; `*` matches everything. */
function isExcluded(url: URL, list: string): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const hostname = url.hostname.toLowerCase();
  return list
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === "*") return true;
      const [, rawName = "", entryPort] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      if (!rawName || (entryPort && entryPort !== port)) return false;
      const name = rawName.replace(/^\*?\./, "");
      return hostname === name || hostname.endsWith(`.${name}`);
    });
}

export function getProxyAuthorization(proxy: URL): Record<string, string> {
  if (!proxy.username) return {};
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}
