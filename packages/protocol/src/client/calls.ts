/** The requests that wait for an answer, also while the connection is made again. */
import type { GatewayFault, RequestFrame, ResponseFrame } from "../gateway/frame.ts";
import { GatewayClientError } from "./errors.ts";

export interface CallOptions {
  /** Gives up waiting; what the gateway does with the request is not known. */
  signal?: AbortSignal;
  /**
   * Whether it waits for a connection, and is sent again if that is lost before the answer has come. Default: true. False for
   * what must not happen later, such as an abort, which would end another run: rejects with `disconnected`.
   */
  isLasting?: boolean;
  /** Called with the output of `session.bash`, piece by piece. */
  onOutput?: (delta: string) => void;
}

interface Call {
  readonly frame: RequestFrame;
  readonly isLasting: boolean;
  readonly onOutput: ((delta: string) => void) | undefined;
  readonly settle: (outcome: { payload: unknown } | { error: GatewayClientError }) => void;
}

export class Calls {
  readonly #waiting = new Map<string, Call>();
  #lastId = 0;

  /** The frame to be sent, and what comes of it. */
  add(
    method: string,
    params: Record<string, unknown>,
    { isLasting = true, signal, onOutput }: CallOptions,
  ): { frame: RequestFrame; answer: Promise<unknown> } {
    const frame: RequestFrame = { type: "req", id: String(++this.#lastId), method, params };
    const answer = new Promise<unknown>((resolve, reject) => {
      const onAbort = () => this.fail(frame.id, toAborted(method));
      const settle: Call["settle"] = (outcome) => {
        this.#waiting.delete(frame.id);
        signal?.removeEventListener("abort", onAbort);
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.payload);
      };
      this.#waiting.set(frame.id, { frame, isLasting, onOutput, settle });
      if (signal?.aborted) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    });
    return { frame, answer };
  }

  has(id: string): boolean {
    return this.#waiting.has(id);
  }

  take(frame: ResponseFrame): void {
    this.#waiting
      .get(frame.id)
      ?.settle(frame.ok ? { payload: frame.payload } : { error: new GatewayClientError(frame.error) });
  }

  takeOutput(id: string, delta: string): void {
    this.#waiting.get(id)?.onOutput?.(delta);
  }

  fail(id: string, fault: GatewayFault): void {
    this.#waiting.get(id)?.settle({ error: new GatewayClientError(fault) });
  }

  failAll(error: GatewayClientError): void {
    for (const { settle } of this.#waiting.values()) settle({ error });
  }

  /** The connection is lost: what does not last fails. */
  suspend(error: GatewayClientError): void {
    for (const { isLasting, settle } of this.#waiting.values()) if (!isLasting) settle({ error });
  }

  /** Lists the requests to send on a new connection, in their order. */
  getLasting(): RequestFrame[] {
    return [...this.#waiting.values()].filter(({ isLasting }) => isLasting).map(({ frame }) => frame);
  }
}

const toAborted = (method: string): GatewayFault => ({
  code: "aborted",
  message: `The call of ${method} was aborted.`,
  retryable: true,
});
