/** Why the harness refuses. The text is for people: what happened, to what, and what to do. */
export type HarnessErrorCode =
  /** There is no such session. */
  | "session_not_found"
  /** Somebody else writes this session, or it was opened for reading. */
  | "read_only"
  /** Another process has written into the log that we hold, or has put another file in its place. */
  | "overtaken"
  /** The disk refused. What was acknowledged is safe. */
  | "write_failed"
  | "unknown_entry"
  /** No model has this name, or it could be several. */
  | "unknown_model"
  /** No model can be used yet. */
  | "no_model"
  /** A run is already in progress. */
  | "busy"
  /** The session was closed. */
  | "closed"
  /** A run that was to give an answer ended without one. */
  | "run_failed"
  /** A test's script was asked for something that it does not have. */
  | "script_missed"
  /** The protocol has no command of this name. */
  | "unknown_command"
  /** A command was given parameters that it cannot use. */
  | "invalid_parameters"
  | "login_failed"
  /** A package could not be fetched, or is not what the lock says. Nothing was changed. */
  | "install_failed"
  /** Something of this machine cannot be used, such as its key chain. */
  | "unavailable"
  | "invalid_input"
  /** A tool's own `beforeInvoke` refused a call, the tool could not be loaded, a client may not do this, or the budget is spent. */
  | "denied"
  | "aborted";

/** Thrown by the harness on purpose. */
export class HarnessError extends Error {
  override readonly name = "HarnessError";
  readonly code: HarnessErrorCode;

  constructor(code: HarnessErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
