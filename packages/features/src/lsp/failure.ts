/** Why a question to a language server has no answer. */
type LspFailureKind =
  /** No server is known for the file, or none is installed. */
  | "unavailable"
  /** It could not be started, or did not answer to `initialize`. */
  | "start_failed"
  /** It ended while it was asked. */
  | "ended"
  | "timeout"
  /** It answered with an error. */
  | "refused"
  /** It cannot do what was asked. */
  | "unsupported"
  /** Its answer makes no sense, so that nothing was done with it. */
  | "bad_answer"
  /** The file does not exist. */
  | "missing"
  /** The arguments of the call make no sense. */
  | "invalid_input"
  | "aborted";

/** Thrown where a tool call has to fail. The message says what happened, to what, and what to do. */
export class LspError extends Error {
  readonly kind: LspFailureKind;

  constructor(kind: LspFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "LspError";
    this.kind = kind;
  }
}
