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
  | "changed"
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

/** Undefined where a system call fails with one of these codes. Any other failure is thrown. */
export async function tolerate<T>(call: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (codes.includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** Undefined where the file does not exist. */
export const unlessMissing = <T>(call: Promise<T>): Promise<T | undefined> => tolerate(call, "ENOENT", "ENOTDIR");

/** Whether a system call fails with this code. Any other failure is thrown. */
export async function failsWith(code: string, call: Promise<void>): Promise<boolean> {
  return (
    (await tolerate(
      call.then(() => "done"),
      code,
    )) === undefined
  );
}
