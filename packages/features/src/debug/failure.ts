/** Expected failures of the debugger. */

export type DebugFailureKind =
  /** The call is incomplete, or does not fit the state of the program. */
  | "invalid"
  /** No adapter for this program is installed. */
  | "missing"
  | "denied"
  /** The adapter did not answer in time. */
  | "timeout"
  /** The adapter answered that it could not do it. */
  | "refused"
  /** The call was stopped while it waited for the adapter, which may still do what it was asked. */
  | "aborted"
  /** The adapter has ended, or sent what is no message. */
  | "ended";

export class DebugFailure extends Error {
  readonly kind: DebugFailureKind;

  constructor(kind: DebugFailureKind, message: string) {
    super(message);
    this.name = "DebugFailure";
    this.kind = kind;
  }
}
