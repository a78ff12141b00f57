/** Our side of a connection: writes lines, and keeps the requests that the client has not answered yet. */
import { jsonLine } from "../modes/json-line.ts";
import { type Incoming, type RequestId, toErrorRecord } from "@tau/protocol/json-rpc";

/** Thrown by `request` where there is no result. */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  /** `refused`: the client answered with an error. `cancelled`: we took it back. `closed`: the client is gone. */
  readonly kind: "refused" | "cancelled" | "closed";

  constructor(kind: RequestFailed["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Pending {
  resolve: (result: unknown) => void;
  reject: (error: RequestFailed) => void;
}

export class Connection {
  readonly #writeLine: (line: string) => void;
  readonly #pending = new Map<RequestId, Pending>();
  #lastId = 0;
  #isClosed = false;

  constructor(writeLine: (line: string) => void) {
    this.#writeLine = writeLine;
  }

  /** `redactLine` removes secrets from the line. */
  notify(method: string, params: object, redactLine: (line: string) => string = (line) => line): void {
    if (!this.#isClosed) this.#writeLine(redactLine(jsonLine({ jsonrpc: "2.0", method, params })));
  }

  respond(id: RequestId, result: unknown): void {
    this.#write({ jsonrpc: "2.0", id, result: result ?? {} });
  }

  fail(id: RequestId, error: unknown): void {
    this.#write({ jsonrpc: "2.0", id, error: toErrorRecord(error) });
  }

  /** Asks the client. When the signal aborts, notifies the client that no answer is needed any more. */
  request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new RequestFailed("closed", "The client has disconnected."));
    if (signal?.aborted) return Promise.reject(new RequestFailed("cancelled", "The request was not sent."));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const cancel = () => {
        if (!this.#pending.delete(id)) return;
        this.notify("$/cancel_request", { requestId: id });
        reject(new RequestFailed("cancelled", "The request was cancelled."));
      };
      const settled = () => signal?.removeEventListener("abort", cancel);
      this.#pending.set(id, {
        resolve: (result) => (settled(), resolve(result)),
        reject: (error) => (settled(), reject(error)),
      });
      signal?.addEventListener("abort", cancel);
      this.#write({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Takes an answer of the client. One to a request that is not open any more is ignored. */
  take(incoming: Extract<Incoming, { kind: "response" | "error" }>): void {
    const pending = this.#pending.get(incoming.id);
    this.#pending.delete(incoming.id);
    if (incoming.kind === "response") pending?.resolve(incoming.result);
    else pending?.reject(new RequestFailed("refused", incoming.error.message));
  }

  /** Writes nothing more. Everything that waits for the client fails. */
  close(): void {
    this.#isClosed = true;
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of waiting) reject(new RequestFailed("closed", "The client has disconnected."));
  }

  #write(message: object): void {
    if (!this.#isClosed) this.#writeLine(jsonLine(message));
  }
}
