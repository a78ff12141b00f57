/** Which proxy a URL goes through, if any, by the environment variables everyone knows. Pure. */
import type { Env } from "../platform/platform.ts";

export function proxyFor(url: URL, env: Env): URL | undefined {
  if (isLoopback(url.hostname) || isExcluded(url, env("NO_PROXY") ?? env("no_proxy") ?? "")) return undefined;
  const scheme = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const value = env(scheme) ?? env(scheme.toUpperCase()) ?? env("all_proxy") ?? env("ALL_PROXY");
  if (!value) return undefined;
  const proxy = tryUrl(withScheme(value));
  return proxy && /^https?:$/.test(proxy.protocol) ? proxy : undefined;
}

/** A proxy cannot reach this machine's loopback, so nothing on it is ever proxied. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || /^(127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** `NO_PROXY`: names match themselves and their subdomains, a port narrows, `*` means everything. */
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

const withScheme = (value: string) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);

function tryUrl(value: string): URL | undefined {
  return URL.canParse(value) ? new URL(value) : undefined;
}

export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (!proxy.username) return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}
