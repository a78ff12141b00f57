/** An expected failure. Its message never has anything that a server sent, unless an extension says it. */
export type AuthFailureKind =
  /** The stored login is no longer accepted: the user has to log in again. */
  | "login_required"
  /** The authorization server could not be reached, or did not answer in time. */
  | "network"
  /** The server gave an unexpected answer. */
  | "server"
  /** The user refused. */
  | "denied"
  /** The user did not finish the login in time. */
  | "expired"
  /** The answer belongs to another login. */
  | "wrong_state"
  | "aborted"
  /** The command that prints a key failed. */
  | "command"
  /** A key names a variable that is not set. */
  | "missing_variable"
  /** The entry cannot be used. */
  | "damaged"
  | "key_chain"
  /** The provider does not have this kind of login. */
  | "unsupported"
  /** The tokens could not be stored. */
  | "storage";

export interface AuthFailure {
  kind: AuthFailureKind;
  /** Says what happened, to what, and what to do. */
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

export const cancelled = (): Failed => failed("aborted", "The login was cancelled.");

/** Something that the user should know, although nothing failed. */
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
