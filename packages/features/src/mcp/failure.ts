/** Why a server or a request of it failed. */
type McpFailureKind =
  /** Nobody has allowed it, and nobody can be asked. */
  | "not_allowed"
  /** The person said no. */
  | "denied"
  /** A value of the entry cannot be filled in. */
  | "configuration"
  /** It could not be started or reached, or ended at once. */
  | "unreachable"
  /** It ended too often in a short time. */
  | "crashed"
  | "timeout"
  /** The person has to sign in. */
  | "login_required"
  /** It answered with an error, or with something that is no answer. */
  | "server"
  | "aborted";

export interface McpFailure {
  readonly kind: McpFailureKind;
  /** Says what happened, to what, and what to do. Nothing in it is hidden. */
  readonly message: string;
}

/** Thrown where a tool call has to fail. */
export class McpError extends Error {
  readonly kind: McpFailureKind;
  /** The end of what the server printed on standard error. */
  readonly stderr: string;

  constructor({ kind, message }: McpFailure, { stderr = "", ...options }: ErrorOptions & { stderr?: string } = {}) {
    super(message, options);
    this.name = "McpError";
    this.kind = kind;
    this.stderr = stderr;
  }
}
