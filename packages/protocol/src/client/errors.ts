import type { GatewayFault } from "../gateway/frame.ts";

/** Errors on this side of the wire. Codes of the gateway come as they are. */
export type ClientErrorCode =
  /** The gateway could not be reached, or did not answer. */
  | "unreachable"
  /** The connection was lost, and the request is not sent again. */
  | "disconnected"
  /** The client was closed. */
  | "closed"
  /** The caller gave up. */
  | "aborted"
  /** Gateway and client have no version of the protocol in common. */
  | "version"
  /** The gateway sent what is not a frame of the protocol. */
  | "invalid_frame"
  /** The key of the device cannot sign, or the gateway asked for something else. */
  | "no_proof"
  | (string & Record<never, never>);

/** A request that was refused, or a connection that did not come about. */
export class GatewayClientError extends Error {
  override readonly name = "GatewayClientError";
  readonly code: ClientErrorCode;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor({ code, message, retryable, retryAfterMs }: GatewayFault, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

export const isGatewayClientError = (error: unknown): error is GatewayClientError =>
  error instanceof Error && error.name === "GatewayClientError";
