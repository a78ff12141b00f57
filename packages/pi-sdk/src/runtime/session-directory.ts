/** Sessions whose working directory does not exist any more. */
import { existsSync } from "node:fs";
import type { SessionManager } from "@tau/pi/internal";

interface SessionCwdIssue {
  sessionFile?: string;
  sessionCwd: string;
  fallbackCwd: string;
}

export class MissingSessionCwdError extends Error {
  override readonly name = "MissingSessionCwdError";
  readonly issue: SessionCwdIssue;

  constructor(issue: SessionCwdIssue) {
    super(
      `The working directory of the session does not exist any more: ${issue.sessionCwd}. Open it with cwdOverride, such as ${issue.fallbackCwd}.`,
    );
    this.issue = issue;
  }
}

/** Throws `MissingSessionCwdError` if the session of a file works in a directory that does not exist. */
export function checkSessionDirectory(manager: SessionManager, fallbackCwd: string): void {
  const sessionFile = manager.getSessionFile();
  const sessionCwd = manager.getCwd();
  if (sessionFile === undefined || sessionCwd === "" || existsSync(sessionCwd)) return;
  throw new MissingSessionCwdError({ sessionFile, sessionCwd, fallbackCwd });
}
