/** A bad day with credentials, as a value. The text is for people, and never holds anything that a server said. */
export type AuthFailureKind =
  /** What was stored is no longer accepted: somebody has to log in again. */
  | "login_required"
  /** The authorization server could not be reached, or did not answer in time. */
  | "network"
  /** It answered, but not with what was asked for. */
  | "server"
  /** The person said no. */
  | "denied"
  /** Nobody answered for so long that the attempt is over. */
  | "expired"
  /** An answer that belongs to another attempt. */
  | "wrong_state"
  | "aborted"
  /** The command that prints a key failed. */
  | "command"
  /** A key names a variable that is not set. */
  | "missing_variable"
  /** The entry is there, and cannot be used. */
  | "damaged"
  | "key_chain"
  /** This provider has no such way to log in. */
  | "unsupported"
  /** What was got could not be kept. */
  | "storage";

export interface AuthFailure {
  kind: AuthFailureKind;
  /** What happened, to what, and what to do. */
  message: string;
}

export interface Failed {
  kind: "failed";
  failure: AuthFailure;
}

export const failed = (kind: AuthFailureKind, message: string): Failed => ({
  kind: "failed",
  failure: { kind, message },
});

/** Something a person should know that stops nothing. */
export interface AuthNotice {
  kind: "damaged" | "unreadable" | "bad_entry" | "permissions" | "refresh_failed" | "not_saved";
  message: string;
  /** The file it is about. */
  path?: string;
  /** Counted from 1. */
  line?: number;
  /** The key in the file: a provider, or a field of its entry. */
  key?: string;
}
