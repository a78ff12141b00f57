/** Why a tool could not do what it was asked. The text is for the model: what happened, to what, and what to do. */
export type ToolsErrorCode =
  | "not_found"
  | "not_a_file"
  | "not_a_directory"
  | "binary"
  | "denied"
  | "too_large"
  | "no_match"
  | "ambiguous"
  | "overlap"
  | "stale"
  | "unread"
  | "overtaken"
  | "invalid_input"
  | "busy"
  | "unavailable"
  | "failed"
  | "aborted"
  | "timeout";

/** The expected failure of a tool call; the agent makes an outcome of it. */
export class ToolsError extends Error {
  override readonly name = "ToolsError";
  readonly code: ToolsErrorCode;
  /** The details that the result would have had, where there are any. */
  readonly details: unknown;

  constructor(code: ToolsErrorCode, message: string, options?: { cause?: unknown; details?: unknown }) {
    super(message, options);
    this.code = code;
    this.details = options?.details;
  }
}

/** The code of a failed system call, such as `ENOENT`. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
