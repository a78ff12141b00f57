import * as http from "node:http";
import * as https from "node:https";
import type { Duplex } from "node:stream";
import * as tls from "node:tls";
import { getProxyAuthorization } from "./proxy.ts";
import { toServerName } from "./server-name.ts";

/** Node removes `signal` before it calls `createConnection`, so it is also passed as `tunnelSignal`. */
export interface TunnelOptions extends https.RequestOptions {
  tunnelSignal?: AbortSignal;
}

/** Connects to an HTTPS server through a proxy with CONNECT. */
export class TunnelAgent extends https.Agent {
  readonly #proxy: URL;

  constructor(proxy: URL, settings: https.AgentOptions) {
    super(settings);
    this.#proxy = proxy;
  }

  override createConnection(
    options: TunnelOptions,
    callback: (error: Error | null, socket: Duplex) => void = () => undefined,
  ): undefined {
    // Node calls back with only an error; the type requires a socket.
    const fail = (error: Error) => (callback as (error: Error) => void)(error);
    const host = options.host ?? options.hostname ?? "";
    const authority = `${host.includes(":") ? `[${host}]` : host}:${options.port ?? 443}`;
    const connect = (this.#proxy.protocol === "https:" ? https : http).request(this.#proxy, {
      ca: options.ca,
      servername: toServerName(this.#proxy.hostname),
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...getProxyAuthorization(this.#proxy) },
      agent: false,
      // Aborting the request also aborts the tunnel.
      ...(options.tunnelSignal && { signal: options.tunnelSignal }),
    });
    connect.once("connect", (response, socket) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        fail(new Error(`The proxy ${this.#proxy.host} refused the connection with HTTP ${response.statusCode}.`));
        return;
      }
      const tlsSocket = tls.connect({
        ...(options as tls.ConnectionOptions),
        socket,
        servername: toServerName(host),
      });
      tlsSocket.once("error", fail);
      tlsSocket.once("secureConnect", () => {
        tlsSocket.off("error", fail);
        callback(null, tlsSocket);
      });
    });
    connect.once("error", fail);
    connect.end();
    return undefined;
  }
}
