/** A page of sessions that are known in their order. */
import { compareSessions, type SessionFilter, type SessionInfo } from "@tau/harness/session";
import { GatewayError } from "../errors.ts";

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

/**
 * A time in milliseconds, of a cursor. Throws for a cursor that no list has given out: if it counted as the beginning, a client
 * would get the same page again and again.
 */
export function parseTime(text: string | undefined, cursor: string): number {
  if (text !== undefined && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  const message = `There is no cursor ${JSON.stringify(cursor.slice(0, 100))}. Pass one of this list, or list from the beginning.`;
  throw new GatewayError("invalid_parameters", message);
}

function parseCursor(cursor: string): CursorParts {
  const [modified, created, id = "", ...rest] = cursor.split("/");
  const name = rest.join("/");
  const times = { created: new Date(parseTime(created, cursor)), modified: new Date(parseTime(modified, cursor)) };
  return { id, ...times, ...(name !== "" && { name }) };
}
