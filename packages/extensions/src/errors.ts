/** Why something of an extension could not be done. */
export type ExtensionErrorCode =
  /** A module, a registration or an argument is not what the API accepts. */
  | "invalid_input"
  /** An extension answered with something that cannot be used. */
  | "invalid_result"
  /** Code of an extension failed, so what it was asked for is not done. */
  | "failed"
  | "timeout"
  /** The extension needs trust for it. */
  | "denied"
  /** The session was replaced, or the extension was loaded again or removed. */
  | "closed"
  /** The user cancelled it. */
  | "cancelled"
  /** Something that it needs is missing: a key, the sandbox, its process, or a person who can be asked. */
  | "unavailable";

/** Thrown to extensions, and for what they did. */
export class ExtensionError extends Error {
  override readonly name = "ExtensionError";
  readonly code: ExtensionErrorCode;

  constructor(code: ExtensionErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
