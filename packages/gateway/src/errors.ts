import type { GatewayErrorCode, GatewayFault } from "@tau/protocol/gateway";
import { getErrorMessage } from "@tau/ai/internal";

/** Marks errors of every copy of this package: a bundle and a program that imports it each have a class of their own. */
const brand = Symbol.for("tau.GatewayError");

/** Refuses a request. Code and message are sent to its client. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly [brand] = true;
  readonly code: GatewayErrorCode;
  readonly retryAfterMs: number | undefined;

  constructor(code: GatewayErrorCode, message: string, { retryAfterMs }: { retryAfterMs?: number } = {}) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether an error is a `GatewayError`, of this copy of the package or of another. */
export const isGatewayError = (error: unknown): error is GatewayError =>
  typeof error === "object" && error !== null && (error as { [brand]?: unknown })[brand] === true;

/** Such a request had no effect, and the reason may pass; `write_failed`: the disk is full, for example. */
const retryableCodes: readonly string[] = ["rate_limited", "unavailable", "busy", "write_failed"];

/** Describes an error to a client. An error without a code is a bug of ours, and its text may say too much. */
export function toFault(error: unknown): GatewayFault {
  const { code, retryAfterMs } = error as { code?: unknown; retryAfterMs?: unknown };
  if (typeof code !== "string" || /^[A-Z]/.test(code)) {
    return { code: "internal", message: "The gateway failed at this request; its log says why.", retryable: false };
  }
  return {
    code,
    message: getErrorMessage(error),
    retryable: retryableCodes.includes(code),
    ...(typeof retryAfterMs === "number" && { retryAfterMs }),
  };
}
