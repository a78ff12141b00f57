/** Every way this package can be misused. Expected failures (rate limits, refusals) are a `Failure`, never thrown. */
export type AiErrorCode =
  | "unknown_api"
  | "unknown_model"
  | "unknown_provider"
  | "no_catalogue"
  | "invalid_option"
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

/** The message of any thrown value. Never throws. */
export function getErrorMessage(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message || error.name) : String(error);
  } catch (conversionError) {
    // A thrown value may fail to convert to a string, for example an object without a prototype.
    return `something without a description was thrown (${typeof conversionError})`;
  }
}

/** Closes an exhaustive `switch`. */
export function assertNever(value: never): never {
  throw new TypeError(`Unexpected value: ${JSON.stringify(value)}`);
}
