/** Why work of a kernel failed. */
export type KernelErrorKind =
  /** The session has no tool of this name, or the kernel did not register it. */
  | "unknown_tool"
  | "invalid_arguments"
  /** The policy or a person refused it. */
  | "denied"
  | "aborted"
  | "timeout"
  /** The kernel has ended, or could not be started. */
  | "ended"
  /** The cell that the call belongs to is over. */
  | "over"
  | "busy"
  | "failed";

/** An expected failure of a kernel, or of a call that it makes. */
export class KernelError extends Error {
  readonly kind: KernelErrorKind;

  constructor(kind: KernelErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "KernelError";
    this.kind = kind;
  }
}
