/** Messages between kernels, with the host between them. */
import { KernelError } from "./kernel-error.ts";

/** Names the ends of messages as they are on the wire: the Python kernel, the JavaScript kernel (`Bun`), and the host (`Rust`). */
export const KernelId = { Python: "Python", Bun: "Bun", Rust: "Rust" } as const;
export type KernelId = (typeof KernelId)[keyof typeof KernelId];

/** A result on the wire. `value` is JSON. */
export type KernelResult = { value: unknown } | { error: { message: string; kind: string } };

/** Kernels send these to the host, which decides about them and passes them on. Ids belong to the kernel that asks. */
export type KernelMessage =
  /** Runs code in the Python kernel. */
  | { type: "PythonExec"; payload: { code: string; id: number } }
  | { type: "PythonResult"; payload: { id: number; result: KernelResult } }
  /** Runs code in the JavaScript kernel. */
  | { type: "BunExec"; payload: { code: string; id: number } }
  | { type: "BunResult"; payload: { id: number; result: KernelResult } }
  | { type: "ToolCall"; payload: { from: KernelId; id: number; tool: string; params: unknown } }
  | { type: "ToolResult"; payload: { to: KernelId; id: number; result: KernelResult } };

/** An end of a channel. */
export interface IpcChannel {
  /** Resolves when there is space for the message. Rejects with a `KernelError` once either end is closed. */
  send(message: KernelMessage): Promise<void>;
  /** Resolves with the next message; undefined when the channel is closed and everything was received. */
  recv(): Promise<KernelMessage | undefined>;
  /** Closes both directions. What was sent can still be received. */
  close(): void;
}

/** Creates two connected ends. Each direction holds at most `capacity` messages that were not received. */
export function IpcChannel(capacity: number): [IpcChannel, IpcChannel] {
  if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError("A channel holds at least one message.");
  const [there, back] = [new MessageQueue(capacity), new MessageQueue(capacity)];
  const createEnd = (sending: MessageQueue, receiving: MessageQueue): IpcChannel => ({
    send: (message) => sending.put(message),
    recv: () => receiving.take(),
    close() {
      sending.close();
      receiving.close();
    },
  });
  return [createEnd(there, back), createEnd(back, there)];
}

/** Messages in one direction. */
class MessageQueue {
  readonly #capacity: number;
  readonly #messages: KernelMessage[] = [];
  readonly #takers: ((message: KernelMessage | undefined) => void)[] = [];
  readonly #putters: { message: KernelMessage; resolve: () => void; reject: (error: Error) => void }[] = [];
  #isClosed = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  async put(message: KernelMessage): Promise<void> {
    if (this.#isClosed) throw new KernelError("ended", "The channel is closed.");
    const taker = this.#takers.shift();
    if (taker) return taker(message);
    if (this.#messages.length < this.#capacity) return void this.#messages.push(message);
    await new Promise<void>((resolve, reject) => this.#putters.push({ message, resolve, reject }));
  }

  async take(): Promise<KernelMessage | undefined> {
    const message = this.#messages.shift();
    const next = this.#putters.shift();
    if (next) {
      this.#messages.push(next.message);
      next.resolve();
    }
    if (message || this.#isClosed) return message;
    return await new Promise((resolve) => this.#takers.push(resolve));
  }

  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#putters.splice(0)) reject(new KernelError("ended", "The channel is closed."));
    for (const take of this.#takers.splice(0)) take(undefined);
  }
}
