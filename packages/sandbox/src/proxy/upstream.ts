/** The user's own proxy: where the network can only be reached through one, the proxy of the sandbox has to use it too. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { findProxy, getProxyAuthorization } from "@tau/ai/internal";
import { formatTarget, type ProxyTarget } from "./host.ts";

/** The proxy for a target; undefined where it is dialled directly. */
export type GetUpstream = (target: ProxyTarget, scheme: "http" | "https") => URL | undefined;

/** By the usual variables, which commands do not get. */
export const getUpstreamOf =
  (env: Readonly<Record<string, string | undefined>>): GetUpstream =>
  (target, scheme) =>
    findProxy(new URL(`${scheme}://${formatTarget(target)}`), (name) => env[name]);

/** Starts a request to a proxy. Its credentials are sent to it alone. */
function requestProxy(proxy: URL, options: { method: string; path: string; headers: object; timeout: number }) {
  const request = proxy.protocol === "https:" ? httpsRequest : httpRequest;
  const headers = { ...options.headers, ...getProxyAuthorization(proxy) };
  return request({
    protocol: proxy.protocol,
    hostname: proxy.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
    ...options,
    headers,
    agent: false,
  });
}

/** A connection to the target through a proxy. Rejects if the proxy refuses it or does not answer. */
export function openTunnel(proxy: URL, target: ProxyTarget, timeoutMs: number): Promise<Duplex> {
  const path = formatTarget(target);
  const request = requestProxy(proxy, { method: "CONNECT", path, headers: { host: path }, timeout: timeoutMs });
  return new Promise((resolve, reject) => {
    request.once("connect", (response, socket: Duplex, head: Buffer) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        return reject(new Error(`The proxy ${proxy.host} refused the connection with HTTP ${response.statusCode}.`));
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.once("timeout", () => request.destroy(new Error(`The proxy ${proxy.host} did not answer.`)));
    request.once("error", reject);
    request.end();
  });
}

/** A plain request: most proxies allow CONNECT for TLS only, so it names the whole address. */
export const requestThrough = (
  proxy: URL,
  { url, ...options }: { url: string; method: string; headers: object; timeout: number },
) => requestProxy(proxy, { ...options, path: url });
