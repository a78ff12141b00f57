/** Failures of requests to the web. */

type WebFailureKind =
  | "invalid_address"
  | "private_address"
  | "unknown_host"
  | "denied"
  | "robots"
  | "rate_limited"
  | "redirects"
  | "status"
  | "too_large"
  | "timeout"
  | "connection"
  | "unreadable";

/** The message is for the model: what was not read, and why. */
export class WebFailure extends Error {
  override readonly name = "WebFailure";
  readonly kind: WebFailureKind;

  constructor(kind: WebFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
