/** The answer to one request of MCP: a single JSON object, or events if something has to be said before the result. */
import type { ServerResponse } from "node:http";
import { maxBufferedBytes } from "../client.ts";
import { endResponse } from "../server/end-response.ts";
import { safeHeaders } from "../server/safe-headers.ts";

export class McpResponse {
  readonly #response: ServerResponse;
  /** Whether the client reads events. */
  readonly #takesEvents: boolean;

  constructor(response: ServerResponse, takesEvents: boolean) {
    this.#response = response;
    this.#takesEvents = takesEvents;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** Sends a message before the result. A client that reads no events does not get it. */
  notify(message: object): void {
    this.#write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /** Says nothing, so that nobody takes the connection for dead. */
  keepAlive(): void {
    this.#write(": wait\n\n");
  }

  /** Sends the last message. */
  end(
    message: object,
    { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ): void {
    // The client is gone.
    if (this.#response.destroyed) return;
    const json = JSON.stringify(message);
    if (this.hasBegun) return endResponse(this.#response, `event: message\ndata: ${json}\n\n`);
    const type = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
    this.#response.writeHead(status, { ...type, ...safeHeaders, ...headers });
    endResponse(this.#response, json);
  }

  #write(text: string): void {
    if (!this.#takesEvents || this.#response.destroyed) return;
    if (!this.hasBegun) {
      this.#response.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        // Servers between must not gather it.
        "x-accel-buffering": "no",
        ...safeHeaders,
      });
    }
    // A client that reads too slowly is taken for gone.
    if (this.#response.writableLength > maxBufferedBytes) this.#response.destroy();
    else this.#response.write(text);
  }
}
