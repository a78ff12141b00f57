export type TauClientErrorCode =
  /** The program did not do what it was asked; the text is its own. */
  | "refused"
  /** The program is gone. */
  | "ended"
  /** The program could not be started. */
  | "not_started";

export class TauClientError extends Error {
  override readonly name = "TauClientError";
  readonly code: TauClientErrorCode;
  /** The program's name for the reason, such as `busy`. */
  readonly reason: string | undefined;

  constructor(
    code: TauClientErrorCode,
    message: string,
    { reason, cause }: { reason?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.reason = reason;
  }
}
