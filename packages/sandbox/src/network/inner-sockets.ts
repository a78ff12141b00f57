/** Sockets in the network of the commands. A process inside opens them and hands them to us. */
import type { ChildProcess, SendHandle } from "node:child_process";
import { Server, Socket } from "node:net";
import { getSystemErrorName } from "node:util";
import { ToolsError } from "@tau/tools";
import { listListeningPorts } from "./listening-ports.ts";

export interface InnerSockets {
  /** Listens at a port of loopback inside; at a free one if that is 0. */
  listen(port: number): Promise<Server>;
  /** Connects to a server on loopback inside. */
  connect(port: number): Promise<Socket>;
  /** Ports at which servers listen inside. */
  listPorts(): readonly number[];
}

/** Asks a process inside for a socket that listens at a port, or is connected to it. */
export interface SocketRequest {
  readonly id: number;
  readonly port: number;
  readonly listens: boolean;
}

interface Pending {
  readonly resolve: (handle: SendHandle) => void;
  readonly reject: (error: Error) => void;
}

/** The answers of a process that was started with an `ipc` channel. */
export class HandedSockets implements InnerSockets {
  readonly #pid: number;
  readonly #child: ChildProcess;
  readonly #request: (request: SocketRequest) => void;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /** `pid`: of a process in the network. `request` asks the process for a socket. */
  constructor(child: ChildProcess, pid: number, request: (request: SocketRequest) => void) {
    this.#child = child;
    this.#pid = pid;
    this.#request = request;
    child.on("message", (message, handle) => this.#take(message as Answer, handle));
    child.once("disconnect", () => this.#end());
    child.once("error", () => this.#end());
    child.channel?.unref();
  }

  listPorts(): readonly number[] {
    return listListeningPorts(this.#pid);
  }

  async listen(port: number): Promise<Server> {
    const handle = await this.#open(port, true);
    if (handle instanceof Server) return handle;
    throw new ToolsError("unavailable", "The sandbox did not hand over a server.");
  }

  async connect(port: number): Promise<Socket> {
    const handle = await this.#open(port, false);
    if (handle instanceof Socket) return handle;
    throw new ToolsError("unavailable", "The sandbox did not hand over a connection.");
  }

  #open(port: number, listens: boolean): Promise<SendHandle> {
    if (!this.#child.connected) return Promise.reject(new ToolsError("unavailable", gone));
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#pending.set(id, { resolve, reject });
      this.#child.channel?.ref();
      this.#request({ id, port, listens });
    });
  }

  #take({ id, error }: Answer, handle: SendHandle | undefined): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#child.channel?.unref();
    if (handle) pending?.resolve(handle);
    else pending?.reject(new ToolsError("unavailable", error === undefined ? gone : getSystemErrorName(-error)));
  }

  #end(): void {
    for (const { reject } of this.#pending.values()) reject(new ToolsError("unavailable", gone));
    this.#pending.clear();
  }
}

interface Answer {
  id: number;
  /** An error number of the system, where there is no socket. */
  error?: number;
}

const gone = "The process that opens sockets in the sandbox has ended.";
