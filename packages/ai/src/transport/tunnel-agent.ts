/** The way to an HTTPS server through a proxy. */
import * as http from "node:http";
import * as https from "node:https";
import type { Duplex } from "node:stream";
import * as tls from "node:tls";
import { proxyAuthorization } from "./proxy.ts";

/** Node takes `signal` away before it asks an agent for a connection, so it travels under a second name. */
export interface TunnelOptions extends https.RequestOptions {
  tunnelSignal?: AbortSignal;
}

/** Reaches an HTTPS server through a proxy's CONNECT. */
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
    // Node's own callers read the socket only where there is no error.
    const fail = (error: Error) => (callback as (error: Error) => void)(error);
    const host = options.host ?? options.hostname ?? "";
    const authority = `${host.includes(":") ? `[${host}]` : host}:${options.port ?? 443}`;
    const connect = (this.#proxy.protocol === "https:" ? https : http).request(this.#proxy, {
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...proxyAuthorization(this.#proxy) },
      agent: false,
      // The tunnel is part of the request: whoever gives that up gives up both.
      ...(options.tunnelSignal && { signal: options.tunnelSignal }),
    });
    connect.once("connect", (response, socket) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        fail(new Error(`The proxy ${this.#proxy.host} refused the connection with HTTP ${response.statusCode}.`));
        return;
      }
      const secured = tls.connect({ ...(options as tls.ConnectionOptions), socket, servername: host });
      secured.once("error", fail);
      secured.once("secureConnect", () => {
        secured.off("error", fail);
        callback(null, secured);
      });
    });
    connect.once("error", fail);
    connect.end();
    return undefined;
  }
}
