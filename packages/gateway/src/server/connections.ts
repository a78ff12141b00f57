import type { Client } from "../client.ts";

/** The clients that are connected now. */
export class Connections {
  readonly #clients = new Set<Client>();

  get count(): number {
    return this.#clients.size;
  }

  add(client: Client): void {
    this.#clients.add(client);
    client.onClosed(() => this.#clients.delete(client));
  }

  /** All of a device, or all. */
  list(deviceId?: string): Client[] {
    return [...this.#clients].filter((client) => deviceId === undefined || client.deviceId === deviceId);
  }
}
