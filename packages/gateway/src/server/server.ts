/** HTTP and WebSocket on one port. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import type { GatewayParts } from "../parts.ts";
import { limits, SocketClient } from "./socket-client.ts";

export interface ListenOptions {
  host: string;
  /** 0: any. */
  port: number;
}

export interface ListeningServer {
  readonly address: AddressInfo;
  close(): Promise<void>;
}

export async function listen({ host, port }: ListenOptions, parts: GatewayParts): Promise<ListeningServer> {
  const server: Server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({
    server,
    maxPayload: limits.maxPayloadBytes,
    perMessageDeflate: false,
    skipUTF8Validation: false,
  });
  sockets.on("connection", (socket) => new SocketClient(socket, parts));
  server.listen(port, host);
  await once(server, "listening");
  return {
    address: server.address() as AddressInfo,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.close();
      await once(server, "close");
    },
  };
}
