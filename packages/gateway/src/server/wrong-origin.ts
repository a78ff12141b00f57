/** Pages of origins that may not use the gateway. */
import type { ResponseFrame } from "@tau/protocol/gateway";
import type { WebSocket } from "ws";

/** More are not logged: a page can choose its subdomains. */
const maxLogged = 100;

/** Logs each origin once, so that a page that tries again does not fill the log. */
export function createOriginLog(log: (line: string) => void): (origin: string) => void {
  const logged = new Set<string>();
  return (origin) => {
    if (logged.has(origin) || logged.size >= maxLogged) return;
    logged.add(origin);
    log(`A page of the origin ${JSON.stringify(origin)} was refused. The setting gateway.allowedOrigins can name it.`);
  };
}

/** A closing frame has room for no more. In bytes; the messages have no other characters. */
const maxCloseReason = 123;

/** Tells a page why it is refused, as the answer to the request with which clients begin, and closes the connection. */
export function refuseOrigin(webSocket: WebSocket, message: string): void {
  webSocket.on("error", () => webSocket.terminate());
  const answer: ResponseFrame = {
    type: "res",
    id: "connect",
    ok: false,
    error: { code: "forbidden", message, retryable: false },
  };
  webSocket.send(JSON.stringify(answer));
  webSocket.close(
    1008,
    Buffer.from(message)
      .subarray(0, maxCloseReason)
      .toString("latin1")
      .replaceAll(/[^ -~]/g, "?"),
  );
}
