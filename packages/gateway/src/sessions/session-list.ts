/** Where a gateway finds the sessions that are not open. */
import type { SessionManager } from "@tau/harness";
import type { SearchOptions, SearchResult } from "@tau/harness/search";
import type { MovedSession, ReportUsageOptions, SessionFilter, SessionManagerOptions } from "@tau/harness/session";
import type { UsageReportData } from "@tau/protocol";
import type { PageOptions, SessionPage } from "./session-page.ts";

export type SessionPageOptions = SessionFilter & PageOptions;

export type UsageReportOptions = Pick<ReportUsageOptions, "by" | "since" | "until" | "limits">;

export interface SessionList {
  has(sessionId: string): Promise<boolean>;
  /** Undefined if there is no session with this id. */
  open(sessionId: string, options: SessionManagerOptions): Promise<SessionManager | undefined>;
  list(options: SessionPageOptions): Promise<SessionPage>;
  /** Searches messages. Throws `unavailable` if the sessions are not in files. */
  search(options: SearchOptions): Promise<SearchResult>;
  /** Adds up what was used. */
  reportUsage(options: UsageReportOptions): Promise<UsageReportData>;
  /** The file of a session was written. */
  markChanged(path: string): void;
  /** Takes a session out of the trash. Throws `session_not_found`. */
  restore(sessionId: string): Promise<MovedSession>;
  close(): void;
}
