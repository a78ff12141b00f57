/** Every way this package can be misused. Weather (rate limits, cuts, refusals) is a `Failure`, never thrown. */
export type AiErrorCode =
  | "unknown_api"
  | "unknown_model"
  | "unknown_provider"
  | "invalid_provider"
  | "invalid_arguments"
  | "invalid_schema"
  | "unknown_tool"
  | "stream_incomplete"
  | "script_exhausted";

/** Thrown for bugs and misuse only. `code` says which; `message` says what happened and what to do. */
export class AiError extends Error {
  override readonly name = "AiError";
  readonly code: AiErrorCode;

  constructor(code: AiErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export const isAiError = (error: unknown): error is AiError =>
  error instanceof Error && error.name === "AiError" && "code" in error;

/** The text of anything that can be thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === "string" ? error : String(error);
}

/** Closes an exhaustive `switch`. */
export function assertNever(value: never): never {
  throw new TypeError(`Unexpected value: ${JSON.stringify(value)}`);
}
