/** The kinds of misuse. */
export type AgentErrorCode = "busy" | "nothing_to_continue" | "invalid_handler" | "invalid_message";

/** Thrown for misuse only; a failure in a run becomes a message of the run. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
