/** A connection that can be cut like a cable: nothing arrives any more, and nobody is told. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  cut(): void;
  /** New connections pass again; those that were cut are closed. */
  heal(): void;
  /** Nothing is read any more, so that what is sent stays with the sender. New connections are refused. */
  stall(): void;
  /** Holds back what the server sends from now on. It arrives in one piece when the returned function is called. */
  collect(): () => void;
  /** The next piece with this text that the server sends is lost, and the connection with it. */
  loseNext(text: string): void;
  close(): Promise<void>;
}

export async function openProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let lost: string | undefined;
  let collected: Map<Socket, Buffer[]> | undefined;
  const server = createServer({ allowHalfOpen: false }, (near) => {
    sockets.add(near);
    near.on("error", () => near.destroy());
    near.on("close", () => sockets.delete(near));
    // A cable that is cut takes no connections, but does not refuse them either.
    if (isCut) return void near.pause();
    const far = connect(targetPort, "127.0.0.1");
    sockets.add(far);
    far.on("error", () => far.destroy());
    far.on("close", () => {
      sockets.delete(far);
      near.destroy();
    });
    near.on("close", () => far.destroy());
    near.on("data", (data) => void (isCut || far.write(data)));
    far.on("data", (data) => {
      if (lost !== undefined && data.includes(lost)) {
        lost = undefined;
        near.destroy();
      } else if (collected) collected.set(near, [...(collected.get(near) ?? []), data]);
      else if (!isCut) near.write(data);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    cut: () => void (isCut = true),
    heal() {
      if (isCut) destroyAll();
      isCut = false;
    },
    stall() {
      server.close();
      for (const socket of sockets) socket.pause();
    },
    collect() {
      const pieces = (collected = new Map<Socket, Buffer[]>());
      return () => {
        collected = undefined;
        for (const [near, parts] of pieces) near.write(Buffer.concat(parts));
      };
    },
    loseNext: (text) => void (lost = text),
    async close() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
