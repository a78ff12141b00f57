/** The errors of the protocol, and how those of tau become one. Pure. */
import { getErrorMessage } from "@tau/ai/internal";
import { type HarnessErrorCode, HarnessError } from "../errors.ts";

export const errorCodes = {
  parse_error: -32_700,
  invalid_request: -32_600,
  unknown_method: -32_601,
  invalid_params: -32_602,
  internal_error: -32_603,
  cancelled: -32_800,
  auth_required: -32_000,
  not_found: -32_002,
  /** Headers of a request say something else than its body. */
  header_mismatch: -32_020,
  unsupported_revision: -32_022,
} as const;

export type JsonRpcErrorCode = keyof typeof errorCodes;

/** Thrown where a request of the client cannot be carried out. */
export class JsonRpcError extends Error {
  override readonly name = "JsonRpcError";
  readonly code: JsonRpcErrorCode;
  /** For programs. */
  readonly data: unknown;

  constructor(code: JsonRpcErrorCode, message: string, options: { cause?: unknown; data?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.data = options.data;
  }
}

/** Codes of the harness that mean something to a client; every other one is an internal error. */
const harnessCodes: Partial<Record<HarnessErrorCode, JsonRpcErrorCode>> = {
  session_not_found: "not_found",
  unknown_model: "invalid_params",
  invalid_parameters: "invalid_params",
  invalid_input: "invalid_params",
  no_model: "auth_required",
  login_failed: "auth_required",
  busy: "invalid_request",
  aborted: "cancelled",
};

/** An error as it is sent. */
export interface ErrorRecord {
  code: number;
  message: string;
  data?: unknown;
}

/** The message is for people, and no stack goes to the client. `data.code` is for programs. */
export function toErrorRecord(error: unknown): ErrorRecord {
  const message = getErrorMessage(error);
  if (error instanceof JsonRpcError)
    return { code: errorCodes[error.code], message, ...(error.data !== undefined && { data: error.data }) };
  const own = (error as { code?: unknown } | undefined)?.code;
  const code = error instanceof HarnessError ? (harnessCodes[error.code] ?? "internal_error") : "internal_error";
  return { code: errorCodes[code], message, ...(typeof own === "string" && { data: { code: own } }) };
}
