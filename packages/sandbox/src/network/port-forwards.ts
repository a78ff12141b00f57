/** Ports of this machine at which servers inside can be reached. */
import { createServer, type Socket } from "node:net";
import { getErrorMessage } from "@tau/ai/internal";
import type { InnerSockets } from "./inner-sockets.ts";

export interface PortForwards {
  /** A sentence for each port that could not be opened. */
  readonly problems: readonly string[];
  close(): void;
}

/** Only programs on this machine can connect to them. */
const address = "127.0.0.1";

/** A port of this machine that leads to the same port inside. */
export interface Forward {
  close(): void;
}

export async function openPortForwards(ports: readonly number[], sockets: InnerSockets): Promise<PortForwards> {
  const outcomes = await Promise.all(ports.map((port) => openForward(port, sockets, async () => true)));
  const forwards = outcomes.filter((outcome) => typeof outcome !== "string");
  const messages = outcomes.filter((outcome) => typeof outcome === "string");
  return {
    problems: messages.map((message) => `[${message}]`),
    close() {
      for (const forward of forwards) forward.close();
    },
  };
}

/**
 * `isAllowed` is asked for each connection, which waits for the answer. Resolves with a message if the port cannot be
 * opened.
 */
export function openForward(
  port: number,
  sockets: InnerSockets,
  isAllowed: () => Promise<boolean>,
): Promise<Forward | string> {
  const connections = new Set<Socket>();
  const keep = (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (outer) => {
    keep(outer);
    const join = async () => {
      if (!(await isAllowed())) return void outer.destroy();
      const inner = await sockets.connect(port);
      keep(inner);
      if (outer.destroyed) return void inner.destroy();
      inner.allowHalfOpen = true;
      inner.once("close", () => outer.destroy());
      outer.once("close", () => inner.destroy());
      outer.pipe(inner).pipe(outer);
    };
    // No server listens there yet: a browser sees that by a connection that ends.
    join().catch(() => outer.destroy());
  });
  const close = () => {
    server.close();
    for (const socket of connections) socket.destroy();
  };
  return new Promise((resolve) => {
    server.once("error", (error) =>
      resolve(`Port ${port} of the setting sandbox.ports could not be opened: ${getErrorMessage(error)}.`),
    );
    server.listen(port, address, () => {
      server.unref();
      resolve({ close });
    });
  });
}
