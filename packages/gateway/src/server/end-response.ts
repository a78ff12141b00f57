import type { ServerResponse } from "node:http";

/** How long a client may read nothing of an answer that is complete. */
const stallMs = 30_000;

/** Sends the last of an answer. A client that does not read it is cut off: it would hold the connection for ever. */
export function endResponse(response: ServerResponse, content?: Buffer | string): void {
  response.setTimeout(stallMs, () => response.destroy());
  response.end(content);
}
