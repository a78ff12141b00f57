/** The answer to one request of MCP: a single JSON object, or events if something has to be said before the result. */
import type { ServerResponse } from "node:http";
import { maxBufferedBytes } from "../client.ts";
import { endResponse } from "../server/end-response.ts";
import { safeHeaders } from "../server/safe-headers.ts";
import type { KeptEvents } from "./kept-events.ts";

interface McpResponseOptions {
  /** Whether the client reads events. */
  takesEvents: boolean;
  /** Where events are kept for a client that comes back. Undefined: it cannot come back. */
  kept?: KeptEvents | undefined;
}

export class McpResponse {
  readonly #options: McpResponseOptions;
  /** Another one after the client came back. */
  #response: ServerResponse;
  #isComplete = false;

  constructor(response: ServerResponse, options: McpResponseOptions) {
    this.#response = response;
    this.#options = options;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** Begins the events with one that only has an id, so that the client can come back whenever it is cut off. */
  begin(): void {
    const { kept } = this.#options;
    if (kept) this.#write(kept.add(""));
  }

  /** Sends a message before the result. A client that reads no events does not get it. */
  notify(message: object): void {
    if (this.#options.takesEvents) this.#write(this.#format(message));
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
    this.#isComplete = true;
    const event = this.hasBegun ? this.#format(message) : undefined;
    // The client is gone. It may come back for events.
    if (this.#response.destroyed) return;
    if (event !== undefined) return endResponse(this.#response, event);
    const type = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
    this.#response.writeHead(status, { ...type, ...safeHeaders, ...headers });
    endResponse(this.#response, JSON.stringify(message));
  }

  /** Continues on a new connection, after the event with this number. The connection before is cut. */
  resume(response: ServerResponse, after: number): void {
    const missed = this.#options.kept?.after(after) ?? "";
    this.#response.destroy();
    this.#response = response;
    this.#write(missed);
    if (this.#isComplete) endResponse(response);
  }

  #format(message: object): string {
    const json = JSON.stringify(message);
    return this.#options.kept?.add(json) ?? `event: message\ndata: ${json}\n\n`;
  }

  #write(text: string): void {
    if (!this.#options.takesEvents || this.#response.destroyed) return;
    if (!this.hasBegun) {
      this.#response.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        // Servers between must not gather it.
        "x-accel-buffering": "no",
        ...safeHeaders,
      });
      this.#response.flushHeaders();
    }
    // A client that reads too slowly is taken for gone.
    if (this.#response.writableLength > maxBufferedBytes) this.#response.destroy();
    else this.#response.write(text);
  }
}
