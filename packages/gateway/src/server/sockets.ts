/** The open WebSockets. All are pinged together, and those that do not answer are closed. */
import type { Clock } from "@tau/ai";
import { limits } from "./limits.ts";
import type { SocketClient } from "./socket-client.ts";

export class Sockets {
  readonly #clock: Clock;
  readonly #open = new Set<SocketClient>();
  /** Those that have not said who they are, with their addresses. */
  readonly #unknown = new Map<SocketClient, string>();
  #cancelPing: () => void;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#cancelPing = this.#schedule();
  }

  add(client: SocketClient, address: string): void {
    this.#open.add(client);
    this.#unknown.set(client, address);
    client.onClosed(() => {
      this.#open.delete(client);
      this.#unknown.delete(client);
    });
  }

  /** It has said who it is. */
  markKnown(client: SocketClient): void {
    this.#unknown.delete(client);
  }

  /** Of those that have not said who they are; of one address, or of all. */
  countUnknown(address?: string): number {
    if (address === undefined) return this.#unknown.size;
    let count = 0;
    for (const from of this.#unknown.values()) if (from === address) count++;
    return count;
  }

  /** Resolves when all are closed, which does not need their consent. */
  async close(): Promise<void> {
    this.#cancelPing();
    for (const client of this.#unknown.keys()) client.terminate();
    const closed = [...this.#open].map((client) => new Promise<void>((resolve) => void client.onClosed(resolve)));
    for (const client of this.#open) client.close(1001, "the gateway stops");
    await Promise.all(closed);
  }

  #schedule(): () => void {
    return this.#clock.setTimer(limits.pingIntervalMs, () => {
      for (const client of this.#open) client.ping();
      this.#cancelPing = this.#schedule();
    });
  }
}
