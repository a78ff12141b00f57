/** Thrown values as text, whatever they are. Pure. */

const unknownError = "Unknown error";

/** The message of a thrown value. Values that are no errors have none. Never throws. */
export function getMessage(error: unknown): string {
  try {
    const message: unknown = (error as { message?: unknown } | null | undefined)?.message;
    return typeof message === "string" && message !== "" ? message : unknownError;
  } catch {
    // A getter of the thrown value threw.
    return unknownError;
  }
}

export function toText(error: unknown): string {
  try {
    return String(error);
  } catch {
    // Such as an object without a prototype.
    return unknownError;
  }
}
