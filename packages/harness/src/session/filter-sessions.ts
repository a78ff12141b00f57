/** Which of the sessions of a list a client asked for, and in which order. Pure. */
import { isChildSession, type SessionInfo } from "./session-info.ts";

export interface SessionFilter {
  /** Words that all have to be in the id, the directory, the name or the first message. */
  query?: string;
  /** Only those with a name. */
  named?: boolean;
  /** Whether those are listed that another session started for a task. Default true. */
  children?: boolean;
  /** Default `modified`: the order of the list. */
  sort?: "modified" | "created" | "name";
}

export function filterSessions(
  sessions: readonly SessionInfo[],
  { query = "", named = false, children = true, sort = "modified" }: SessionFilter,
): SessionInfo[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = sessions.filter((session) => {
    const { id, cwd, name = "", firstMessage } = session;
    if (named && name === "") return false;
    if (!children && isChildSession(session)) return false;
    if (words.length === 0) return true;
    const haystack = `${id} ${cwd} ${name} ${firstMessage}`.toLowerCase();
    return words.every((word) => haystack.includes(word));
  });
  return sort === "modified" ? matching : matching.sort(compareSessions[sort]);
}

type SortedSession = Pick<SessionInfo, "id" | "name" | "created" | "modified">;

const compareIds = (a: SortedSession, b: SortedSession) => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1);

/** The last used, or newest, come first. Those without a name come last. Only a session itself is in the same place. */
export const compareSessions = {
  modified: (a: SortedSession, b: SortedSession) => b.modified.getTime() - a.modified.getTime() || compareIds(a, b),
  created: (a: SortedSession, b: SortedSession) => b.created.getTime() - a.created.getTime() || compareIds(a, b),
  name: (a: SortedSession, b: SortedSession) =>
    Number(a.name === undefined) - Number(b.name === undefined) ||
    (a.name ?? "").localeCompare(b.name ?? "", "en") ||
    compareIds(a, b),
};
