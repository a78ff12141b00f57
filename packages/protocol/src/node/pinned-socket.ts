/** A connection to a gateway whose certificate is known, whoever signed it and whatever name is in it. */
import { isIP } from "node:net";
import { connect, type ConnectionOptions } from "node:tls";
import { WebSocket } from "ws";
import type { ClientSocket } from "../client/connection.ts";

/** `fingerprint` is SHA-256 as Node writes it. Nothing but the request for a WebSocket is sent before it was compared. */
export function createPinnedSocket(url: string, fingerprint: string): ClientSocket {
  const createConnection = (options: ConnectionOptions) => {
    const { host = "" } = options;
    const servername = isIP(host) === 0 ? host : "";
    // What is trusted is this certificate, not those who sign certificates.
    const socket = connect({ ...options, path: undefined, servername, rejectUnauthorized: false } as never);
    socket.once("secureConnect", () => {
      const shown = socket.getPeerX509Certificate()?.fingerprint256;
      if (shown === fingerprint) return;
      socket.destroy(new Error("It shows another certificate than the gateway of this account."));
    });
    return socket;
  };
  return new WebSocket(url, { createConnection } as never) as ClientSocket;
}
