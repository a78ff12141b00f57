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
export function getErrorMessage(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message || error.name) : String(error);
  } catch (odd) {
    // Anything can be thrown, also what cannot be turned into words; this is called where nothing may fail.
    return `something without a description was thrown (${typeof odd})`;
  }
}

/** Closes an exhaustive `switch`. */
export function assertNever(value: never): never {
  throw new TypeError(`Unexpected value: ${JSON.stringify(value)}`);
}
