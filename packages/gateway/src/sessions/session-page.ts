/** A page of sessions that are known in their order. */
import { compareSessions, type SessionFilter, type SessionInfo } from "@tau/harness/session";

export interface SessionPage {
  sessions: SessionInfo[];
  /** Undefined: it was the last page. */
  cursor: string | undefined;
}

export interface PageOptions extends Pick<SessionFilter, "sort"> {
  /** Where the page before ended. */
  cursor?: string;
  limit: number;
}

/** `sessions` are in the order of `sort`, see `compareSessions`. Pure. */
export function cutPage(
  sessions: readonly SessionInfo[],
  { sort = "modified", cursor, limit }: PageOptions,
): SessionPage {
  const last = cursor === undefined ? undefined : parseCursor(cursor);
  const next = last ? sessions.findIndex((session) => compareSessions[sort](last, session) < 0) : 0;
  const start = next < 0 ? sessions.length : next;
  const page = sessions.slice(start, start + limit);
  return { sessions: page, cursor: start + limit < sessions.length ? toCursor(page.at(-1)!) : undefined };
}

type CursorParts = Pick<SessionInfo, "id" | "name" | "created" | "modified">;

/** A place in the order, which stays the same when the session at it is used again or deleted. */
const toCursor = ({ id, name = "", created, modified }: CursorParts): string =>
  [modified.getTime(), created.getTime(), id, name].join("/");

function parseCursor(cursor: string): CursorParts {
  const [modified, created, id = "", ...rest] = cursor.split("/");
  const name = rest.join("/");
  const times = { created: new Date(Number(created)), modified: new Date(Number(modified)) };
  return { id, ...times, ...(name !== "" && { name }) };
}
