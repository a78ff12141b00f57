/** HTTP and WebSocket on one port. */
import { createServer as createPlainServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import { createServer as createSecureServer, Server as SecureServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { getErrorMessage } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";
import { WebSocketServer } from "ws";
import { Rounds } from "../rounds.ts";
import { GatewayError, toFault } from "../errors.ts";
import type { GatewayParts } from "../parts.ts";
import { toLimitKey } from "./address.ts";
import type { Binding } from "./binding.ts";
import type { Certificate } from "./certificate.ts";
import { listAddresses, type Refusal } from "./check-request.ts";
import { answerHttp, toErrorAnswer } from "./http.ts";
import { defaultServerLimits, limits, type ServerLimits } from "./limits.ts";
import { PageFiles } from "./page-files.ts";
import { serveWithoutUpgrade } from "./plain-request.ts";
import type { Route } from "./route.ts";
import { ownRoutes } from "./routes.ts";
import { holdMs } from "./held-writes.ts";
import { SocketClient } from "./socket-client.ts";
import { Sockets } from "./sockets.ts";
import { createUpgradeCheck } from "./upgrade-check.ts";
import { createOriginLog, refuseOrigin } from "./wrong-origin.ts";

export interface ListenOptions {
  /** Besides those of the gateway itself. */
  routes?: readonly Route[];
  /** The files of the page. */
  pageDirectory?: string;
  serverLimits?: Partial<ServerLimits>;
}

interface ListeningServer {
  /** Such as `ws://127.0.0.1:7433`. */
  readonly url: string;
  /** Takes no new connections; those that are open continue. */
  stopAccepting(): void;
  close(): Promise<void>;
}

/** Throws `port_taken` or `unavailable`, with a sentence for people. */
export async function listen(options: ListenOptions, binding: Binding, parts: GatewayParts): Promise<ListeningServer> {
  const { host, port, isSecure } = binding;
  const serverLimits = { ...defaultServerLimits, ...options.serverLimits };
  const server = createServer(binding.certificate);
  binding.onCertificate((certificate) => {
    if (server instanceof SecureServer) server.setSecureContext(certificate);
  });
  server.maxHeadersCount = 64;
  server.maxConnections = serverLimits.maxConnections;
  server.listen(port, host === "localhost" ? "127.0.0.1" : host);
  await untilListening(server, host, port);
  const address = server.address() as AddressInfo;
  const getAddresses = () => listAddresses({ ...parts.getSettings(), host, port: address.port, isSecure });
  const routes = [...ownRoutes, ...(options.routes ?? [])];
  const page = new PageFiles(options.pageDirectory);
  const sockets = new Sockets(parts.clock);
  const writes = new Rounds(parts.clock, holdMs);
  const upgrader = new WebSocketServer(webSocketOptions);
  const onWrongOrigin = createOriginLog(parts.log);
  let isAccepting = true;
  const mustUpgrade = createUpgradeCheck({
    serverLimits,
    sockets,
    getAddresses,
    isAccepting: () => isAccepting,
  });

  server.on(
    "request",
    (request, response) => void answerHttp(request, response, { parts, getAddresses, onWrongOrigin, routes, page }),
  );
  server.on("upgrade", (request: IncomingMessage, socket, head) => {
    if (request.headers.upgrade?.toLowerCase() !== "websocket")
      return serveWithoutUpgrade(server, request, socket, head);
    socket.on("error", () => socket.destroy());
    const key = toLimitKey(request.socket.remoteAddress);
    let refusal: Refusal | undefined;
    try {
      refusal = mustUpgrade(request, key);
    } catch (error) {
      return refuseUpgrade(socket, toErrorAnswer(toFault(error)));
    }
    if (refusal) {
      const { origin = "", message } = refusal;
      onWrongOrigin(origin);
      return upgrader.handleUpgrade(request, socket, head, (webSocket) => refuseOrigin(webSocket, message));
    }
    upgrader.handleUpgrade(request, socket, head, (webSocket) => {
      const onKnown = (client: SocketClient) => sockets.markKnown(client);
      sockets.add(new SocketClient({ webSocket, tcp: request.socket, address: key, parts, writes, onKnown }), key);
    });
  });
  server.on("clientError", (error, socket) => refuseClient(socket as Socket, error));

  return {
    url: `${isSecure ? "wss" : "ws"}://${toHostName(host)}:${address.port}`,
    stopAccepting() {
      isAccepting = false;
      server.close();
    },
    async close() {
      isAccepting = false;
      const closed = server.listening ? once(server, "close") : undefined;
      server.close();
      await sockets.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns the name by which clients on this machine reach it. */
const toHostName = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;

const webSocketOptions = {
  noServer: true,
  clientTracking: false,
  maxPayload: limits.maxPayloadBytes,
  maxFragments: 1_024,
  perMessageDeflate: false,
  skipUTF8Validation: false,
  // A client that does not close in time is cut off.
  closeTimeout: 500,
};

function createServer(secure: Certificate | undefined): Server {
  const options = {
    headersTimeout: 5_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: 16 * 1024,
    // A request without one is refused with the others that name no host of ours.
    requireHostHeader: false,
    noDelay: true,
    keepAlive: true,
  };
  if (!secure) return createPlainServer(options);
  return createSecureServer({ ...options, ...secure, handshakeTimeout: 5_000 });
}

async function untilListening(server: Server, host: string, port: number): Promise<void> {
  try {
    await once(server, "listening");
  } catch (error) {
    const code = systemCode(error);
    if (code === "EADDRINUSE") {
      const advice = "Stop that program, or choose another port: --port P, or the setting gateway.port.";
      throw new GatewayError("port_taken", `Another program listens on port ${port} of ${host} already. ${advice}`);
    }
    throw new GatewayError(
      "unavailable",
      `The gateway cannot listen on port ${port} of ${host}: ${getErrorMessage(error)}`,
    );
  }
}

/** For what is not HTTP, or came too slowly. */
function refuseClient(socket: Socket, error: Error): void {
  // Without a handshake nothing can be sent, and who does not read takes nothing.
  const hasHandshake = !(socket instanceof TLSSocket) || socket.getFinished() !== undefined;
  if (!socket.writable || socket.writableLength > 0 || !hasHandshake) return void socket.destroy();
  const status = systemCode(error) === "HPE_HEADER_OVERFLOW" ? 431 : 400;
  // The client's half is closed too: it may never do that.
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
}

function refuseUpgrade(socket: Duplex, { status, body, headers = {} }: ReturnType<typeof toErrorAnswer>): void {
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Connection: close",
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.once("finish", () => socket.destroy());
  socket.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
}
