/** The socket to the first process of a session's sandbox. */
import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import type { ExitStatus } from "@tau/tools";
import { decodeReplies, type HelperReply } from "./helper-messages.ts";

/** Pipes for one command: descriptors of the helper. */
export interface Slot {
  slot: number;
  stdin: number;
  stdout: number;
  stderr: number;
}

export interface Running {
  pid: number | undefined;
  hadLeftovers: boolean;
  settle: (status: ExitStatus) => void;
}

/** The socket to the first process, with what it has said and not been asked for yet. */
export class HelperChannel {
  readonly ended: Promise<void>;
  isOver = false;
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #slots: Slot[] = [];
  readonly #waiting: ((slot: Slot | undefined) => void)[] = [];
  readonly #mounting: ((error: number) => void)[] = [];
  readonly #running = new Map<number, Running>();
  #rest: Buffer = Buffer.alloc(0);

  constructor(child: ChildProcess, socket: Socket, onReady: () => void) {
    this.#child = child;
    this.#socket = socket;
    let isReady = false;
    socket.on("data", (bytes: Buffer) => {
      const { replies, rest } = decodeReplies(Buffer.concat([this.#rest, bytes]));
      this.#rest = rest;
      for (const reply of replies) this.#take(reply);
      if (!isReady) onReady();
      isReady = true;
    });
    this.ended = new Promise((resolve) => {
      const onEnd = () => {
        this.#end();
        resolve();
      };
      child.once("exit", () => this.#end());
      // Later than the exit: by then, everything that it said is read.
      child.once("close", onEnd);
      child.once("error", onEnd);
    });
    child.unref();
    for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
  }

  send(message: Buffer): void {
    this.#socket.write(message);
  }

  async takeSlot(): Promise<Slot | undefined> {
    if (this.isOver) return undefined;
    return this.#slots.shift() ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
  }

  run(slot: number, running: Running): void {
    if (this.isOver) return running.settle(killed);
    this.#running.set(slot, running);
    this.#hold();
  }

  async mount(message: Buffer): Promise<number> {
    if (this.isOver) return 0;
    this.send(message);
    return await new Promise((resolve) => this.#mounting.push(resolve));
  }

  async close(): Promise<void> {
    this.#socket.ref();
    this.#child.ref();
    this.#socket.end();
    await this.ended;
  }

  #take(reply: HelperReply): void {
    switch (reply.kind) {
      case "pipes": {
        const slot = reply.stdout === 0 ? undefined : reply;
        const waiting = this.#waiting.shift();
        if (waiting) waiting(slot);
        else if (slot) this.#slots.push(slot);
        return;
      }
      case "running": {
        const running = this.#running.get(reply.slot);
        if (running) running.pid = reply.pid;
        return;
      }
      case "exit": {
        const running = this.#running.get(reply.slot);
        this.#running.delete(reply.slot);
        this.#hold();
        if (!running) return;
        running.hadLeftovers = reply.hadLeftovers;
        return running.settle(reply.status);
      }
      case "mounted":
        return this.#mounting.shift()?.(reply.error);
    }
  }

  /** Our process stays alive for commands, and not for a sandbox in which nothing runs. */
  #hold(): void {
    if (this.isOver) return;
    if (this.#running.size > 0) this.#socket.ref();
    else this.#socket.unref();
  }

  #end(): void {
    this.isOver = true;
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    for (const resolve of this.#mounting.splice(0)) resolve(0);
    for (const { settle } of this.#running.values()) settle(killed);
    this.#running.clear();
  }
}

const killed: ExitStatus = { kind: "signalled", signal: "SIGKILL" };
