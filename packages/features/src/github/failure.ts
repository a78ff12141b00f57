/** Failures of requests to GitHub. */

type GitHubFailureKind =
  | "arguments"
  | "no_login"
  | "denied"
  | "not_found"
  | "rate_limited"
  | "status"
  | "connection"
  | "unreadable"
  | "git";

/** The message is for the model: what was not done, and why. */
export class GitHubFailure extends Error {
  override readonly name = "GitHubFailure";
  readonly kind: GitHubFailureKind;

  constructor(kind: GitHubFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
