/** A WebSocket to a server that streams an answer for each message. */
export interface Socket {
  readonly isOpen: boolean;
  send(text: string): void;
  /** Receives what arrives from now on, in place of an earlier listener. Undefined drops it. */
  listen(listener: SocketListener | undefined): void;
  /** Whether the open socket keeps the process alive. */
  keepAlive(isNeeded: boolean): void;
  /** Closes it at once. */
  close(): void;
}

export interface SocketListener {
  message(text: string): void;
  close(reason: string): void;
}

/** `refused`: the server, or something before it, did not upgrade the connection. `status` is its answer, if it gave one. */
export type SocketOutcome = { kind: "open"; socket: Socket } | { kind: "refused"; reason: string; status?: number };

/** Connects to the address of a request, with its headers. Rejects only if `signal` aborts. */
export type OpenSocket = (
  request: { url: string; headers: Record<string, string> },
  options: { signal: AbortSignal; env: (name: string) => string | undefined },
) => Promise<SocketOutcome>;
