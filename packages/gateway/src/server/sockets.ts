/** The open WebSockets. All are pinged together, and those that do not answer are closed. */
import type { Clock } from "@tau/ai";
import { limits, type ServerLimits } from "./limits.ts";
import type { SocketClient } from "./socket-client.ts";

type UnknownLimits = Pick<ServerLimits, "maxUnknownSockets" | "maxUnknownSocketsPerAddress">;

/**
 * Which connection gives way to a new one of `address`: the oldest of the same address or, if all addresses together have too
 * many, the oldest of the address with the most. Undefined if there is room. `unknown` has the oldest first. Pure.
 */
export function chooseLeaving<Client>(
  unknown: readonly (readonly [Client, string])[],
  address: string,
  { maxUnknownSockets, maxUnknownSocketsPerAddress }: UnknownLimits,
): Client | undefined {
  const counts = new Map<string, number>();
  for (const [, from] of unknown) counts.set(from, (counts.get(from) ?? 0) + 1);
  const oldestOf = (wanted: string) => unknown.find(([, from]) => from === wanted)?.[0];
  const own = counts.get(address) ?? 0;
  if (own >= maxUnknownSocketsPerAddress) return oldestOf(address);
  if (unknown.length < maxUnknownSockets) return undefined;
  const [busiest] = [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), [address, own]);
  return oldestOf(busiest);
}

export class Sockets {
  readonly #clock: Clock;
  readonly #open = new Set<SocketClient>();
  /** Clients that have not proved who they are, with their addresses. */
  readonly #unknown = new Map<SocketClient, string>();
  /** Connections that gave way and have not answered yet, oldest first. */
  readonly #leaving = new Set<SocketClient>();
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
      this.#leaving.delete(client);
    });
  }

  /** It has said who it is. */
  markKnown(client: SocketClient): void {
    this.#unknown.delete(client);
  }

  /**
   * Closes a connection that has not said who it is, if there are too many for another one of this address. Otherwise
   * strangers who say nothing could keep everybody else out.
   */
  makeRoom(address: string, maxUnknown: UnknownLimits): void {
    const leaving = chooseLeaving([...this.#unknown], address, maxUnknown);
    if (!leaving) return;
    this.#unknown.delete(leaving);
    leaving.close(1013, "a newer connection took its place");
    this.#leaving.add(leaving);
    // A flood that does not answer either costs no more than this many.
    if (this.#leaving.size <= maxUnknown.maxUnknownSockets) return;
    const [oldest] = this.#leaving;
    this.#leaving.delete(oldest!);
    oldest!.terminate();
  }

  /** Resolves when all are closed, whether the clients agree or not. */
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
