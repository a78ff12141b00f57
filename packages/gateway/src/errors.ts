import type { GatewayErrorCode, GatewayFault } from "@tau/protocol/gateway";
import { getErrorMessage } from "@tau/ai/internal";

/** A request that is refused, with what its client is told. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: GatewayErrorCode;
  readonly retryAfterMs: number | undefined;

  constructor(code: GatewayErrorCode, message: string, { retryAfterMs }: { retryAfterMs?: number } = {}) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Such a request had no effect, and the reason may pass; `write_failed`: the disk is full, for example. */
const retryableCodes: readonly string[] = ["rate_limited", "unavailable", "busy", "write_failed"];

/** What a client is told of an error. Those without a code are ours, and their text may say too much. */
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
