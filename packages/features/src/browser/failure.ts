/** Failures of the browser. */
import type { FailureReason } from "./messages.ts";

type BrowserFailureKind = FailureReason | "arguments" | "address" | "denied" | "missing" | "ended";

/** The message is for the model: what was not done, and why. */
export class BrowserFailure extends Error {
  override readonly name = "BrowserFailure";
  readonly kind: BrowserFailureKind;

  constructor(kind: BrowserFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
