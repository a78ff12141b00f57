/** WebSockets for Node, which has none of its own that can send headers. */
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { maxResponseBytes } from "./http.ts";
import { getAgent } from "./node-http.ts";
import { findProxy } from "./proxy.ts";
import type { OpenSocket, Socket, SocketListener, SocketOutcome } from "./socket.ts";

export const openSocket: OpenSocket = async ({ url: address, headers }, { signal, env }) => {
  const url = new URL(address);
  const isSecure = url.protocol === "https:";
  const proxy = findProxy(url, env);
  if (proxy && !isSecure) return { kind: "refused", reason: "the proxy forwards plain HTTP only" };
  const agent = await getAgent(isSecure, proxy, env);
  signal.throwIfAborted();
  url.protocol = isSecure ? "wss:" : "ws:";
  const webSocket = new WebSocket(url, { headers, agent, perMessageDeflate: false, maxPayload: maxResponseBytes });
  return await new Promise<SocketOutcome>((resolve, reject) => {
    let connection: Duplex | undefined;
    const abort = () => {
      webSocket.terminate();
      reject(signal.reason as Error);
    };
    const settle = (outcome: SocketOutcome) => {
      signal.removeEventListener("abort", abort);
      resolve(outcome);
    };
    signal.addEventListener("abort", abort, { once: true });
    // Without a listener, an error after this promise is settled would end the process; `close` follows it.
    webSocket.on("error", (error) => settle({ kind: "refused", reason: error.message }));
    webSocket.on("upgrade", (response) => (connection = response.socket));
    webSocket.on("unexpected-response", (_request, response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      settle({ kind: "refused", reason: `HTTP ${status}`, status });
      webSocket.terminate();
    });
    webSocket.on("open", () => settle({ kind: "open", socket: toSocket(webSocket, connection) }));
  });
};

function toSocket(webSocket: WebSocket, connection: Duplex | undefined): Socket {
  let listener: SocketListener | undefined;
  webSocket.on("message", (data, isBinary) => {
    if (!isBinary) listener?.message(String(data));
  });
  webSocket.on("close", (code, reason) =>
    listener?.close(reason.length > 0 ? `${code}: ${String(reason)}` : String(code)),
  );
  const referable = connection as { ref?(): void; unref?(): void } | undefined;
  return {
    get isOpen() {
      return webSocket.readyState === WebSocket.OPEN;
    },
    send: (text) => webSocket.send(text),
    listen: (next) => (listener = next),
    keepAlive: (isNeeded) => (isNeeded ? referable?.ref?.() : referable?.unref?.()),
    close: () => webSocket.terminate(),
  };
}
