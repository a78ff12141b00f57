/**
 * Servers of this machine on loopback that commands may reach: the same port of loopback inside leads to them. Commands
 * look for such a server inside, where the kernel itself refuses them, so the proxy has no part in it.
 */
import { connect, type Server, type Socket } from "node:net";
import { getErrorMessage } from "@tau/ai/internal";
import { formatHost, parseTarget } from "../proxy/host.ts";
import type { InnerSockets } from "./inner-sockets.ts";

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The ports of entries such as `localhost:5432`. Entries without a port are for the proxy alone. Pure. */
export const findLocalPorts = (allow: readonly string[]): number[] =>
  allow.flatMap((entry) => {
    const target = /:\d+$/.test(entry) ? parseTarget(entry) : undefined;
    return target && loopback.has(formatHost(target.host)) ? [target.port] : [];
  });

/** The entry that allows a port. */
export const toLocalEntry = (port: number): string => `localhost:${port}`;

export class LocalPorts {
  readonly #sockets: InnerSockets;
  readonly #isTaken: (port: number) => boolean;
  readonly #opened = new Map<number, Promise<Server | string>>();
  readonly #connections = new Set<Socket>();

  /** `isTaken`: ports of this machine that lead inside themselves. */
  constructor(sockets: InnerSockets, isTaken: (port: number) => boolean) {
    this.#sockets = sockets;
    this.#isTaken = isTaken;
  }

  has(port: number): boolean {
    return this.#opened.has(port);
  }

  /** Opens those that are not open. Resolves with a sentence for each one that could not be opened now. */
  async open(ports: readonly number[]): Promise<string[]> {
    const missing = [...new Set(ports)].filter((port) => !this.#opened.has(port));
    for (const port of missing) this.#opened.set(port, this.#open(port));
    const outcomes = await Promise.all(ports.map((port) => this.#opened.get(port)));
    return missing.flatMap((port) => {
      const outcome = outcomes[ports.indexOf(port)];
      return typeof outcome === "string"
        ? [`[Port ${port} of this machine cannot be reached from inside: ${outcome}.]`]
        : [];
    });
  }

  close(): void {
    for (const opening of this.#opened.values())
      void opening.then((server) => typeof server === "string" || server.close());
    for (const socket of this.#connections) socket.destroy();
  }

  async #open(port: number): Promise<Server | string> {
    if (this.#isTaken(port)) return "it leads inside, as sandbox.ports asks";
    try {
      const server = await this.#sockets.listen(port);
      server.on("connection", (inner) => this.#join(inner, port));
      // The sandbox has ended, or we are out of descriptors: commands then get no connection.
      server.on("error", () => server.close());
      server.unref();
      return server;
    } catch (error) {
      return getErrorMessage(error);
    }
  }

  /** Some servers listen at only one of the two addresses of loopback. */
  #join(inner: Socket, port: number): void {
    const outer = connect({ host: "localhost", port, autoSelectFamily: true, allowHalfOpen: true });
    inner.allowHalfOpen = true;
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      this.#connections.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => {
        this.#connections.delete(socket);
        other.destroy();
      });
    }
    inner.pipe(outer).pipe(inner);
  }
}
