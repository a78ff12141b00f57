/** Clients of MCP that have begun with a handshake: which of their requests are open. They are forgotten with the gateway. */
import { randomBytes } from "node:crypto";
import type { Clock } from "@tau/ai";
import type { RequestId } from "@tau/protocol/json-rpc";
import { McpStreams } from "./mcp-streams.ts";

interface McpClient {
  readonly id: string;
  /** Nobody else may use its id. */
  readonly deviceId: string;
  readonly open: Map<RequestId, AbortController>;
  usedAtMs: number;
}

/** Above this the one that was used longest ago is forgotten: it has to begin again. */
const maxClients = 1_000;
const maxIdleMs = 24 * 60 * 60_000;

export class McpClients {
  /** Answers that they can continue. */
  readonly streams = new McpStreams();
  readonly #clock: Clock;
  /** By the id of each, in the order of their last use. */
  readonly #clients = new Map<string, McpClient>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the id. */
  begin(deviceId: string): string {
    const nowMs = this.#clock.monotonic();
    for (const [id, { open, usedAtMs }] of this.#clients) {
      const isOld = nowMs - usedAtMs > maxIdleMs || this.#clients.size >= maxClients;
      if (isOld && open.size === 0) this.#clients.delete(id);
    }
    const id = randomBytes(24).toString("base64url");
    this.#clients.set(id, { id, deviceId, open: new Map(), usedAtMs: nowMs });
    return id;
  }

  /** Undefined for a client that is not known, or that is another device's. */
  find(id: string, deviceId: string): McpClient | undefined {
    const client = this.#clients.get(id);
    if (client?.deviceId !== deviceId) return undefined;
    client.usedAtMs = this.#clock.monotonic();
    this.#clients.delete(id);
    this.#clients.set(id, client);
    return client;
  }

  /** Cancels everything that the client waits for. False for a client that is not known. */
  end(id: string, deviceId: string): boolean {
    const client = this.find(id, deviceId);
    if (!client) return false;
    this.#clients.delete(id);
    for (const controller of client.open.values()) controller.abort();
    this.streams.forget(id);
    return true;
  }
}
