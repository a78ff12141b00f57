import type { IncomingMessage, Server } from "node:http";
import { Server as SecureServer } from "node:https";
import type { Duplex } from "node:stream";

/** Headers that only concern the other protocol. */
const upgradeHeaders = /^(?:connection|upgrade|http2-settings)$/i;

/**
 * Some programs ask with each request whether HTTP/2 could be spoken. A server may ignore that, and Node does not while it
 * also serves WebSockets: the request is given to the server once more, without the question.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (!upgradeHeaders.test(name)) lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit(server instanceof SecureServer ? "secureConnection" : "connection", socket);
}
