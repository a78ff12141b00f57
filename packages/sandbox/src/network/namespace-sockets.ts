/** Opens sockets in a network that is entered with a program, such as `nsenter`: a Node of its own does it there. */
import { type ChildProcess, spawn as nodeSpawn } from "node:child_process";
import type { Server, Socket } from "node:net";
import { HandedSockets, type InnerSockets } from "./inner-sockets.ts";
import { listListeningPorts } from "./listening-ports.ts";

/** Some servers listen at only one of the two addresses of loopback. What a server sends at once is left for us to read. */
const program = `
  const net = require("node:net");
  const fail = (id, error) => process.send({ id, error: -error.errno });
  const listen = (id, port) => {
    const server = net.createServer().once("error", (error) => fail(id, error));
    server.listen(port, "127.0.0.1", () => process.send({ id }, server, () => server.close()));
  };
  const connect = (id, port, [host, ...others]) => {
    const socket = net.connect({ host, port }).pause();
    socket.once("connect", () => process.send({ id }, socket));
    socket.once("error", (error) => (others.length > 0 ? connect(id, port, others) : fail(id, error)));
  };
  process.once("disconnect", () => process.exit());
  process.on("message", ({ id, port, listens }) =>
    listens ? listen(id, port) : connect(id, port, ["127.0.0.1", "::1"]));
`;

interface SocketProcess {
  readonly child: ChildProcess;
  readonly sockets: HandedSockets;
}

export class NamespaceSockets implements InnerSockets {
  readonly #pid: number;
  readonly #enter: readonly string[];
  #connecting: SocketProcess | undefined;

  /** `enter`: what comes before a program that is to run in the network. `pid`: a process in it. */
  constructor(enter: readonly string[], pid: number) {
    this.#enter = enter;
    this.#pid = pid;
  }

  listPorts(): readonly number[] {
    return listListeningPorts(this.#pid);
  }

  async listen(port: number): Promise<Server> {
    const { child, sockets } = this.#start();
    try {
      return await sockets.listen(port);
    } finally {
      if (child.connected) child.disconnect();
    }
  }

  /** Its process stays, because connections come often. */
  connect(port: number): Promise<Socket> {
    if (this.#connecting?.child.connected !== true) this.#connecting = this.#start();
    return this.#connecting.sockets.connect(port);
  }

  close(): void {
    if (this.#connecting?.child.connected === true) this.#connecting.child.disconnect();
  }

  #start(): SocketProcess {
    const [command = "", ...args] = [...this.#enter, process.execPath, "-e", program];
    // It ends with the channel, and so with us.
    const child = nodeSpawn(command, args, { cwd: "/", env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"] });
    child.unref();
    return { child, sockets: new HandedSockets(child, this.#pid, (request) => child.send(request)) };
  }
}
