/** Puts sessions that were forked below those that they were forked from. Pure. */
import type { SessionSummaryData } from "../command-data.ts";

type Listed = Pick<SessionSummaryData, "path" | "parentSession">;

export interface ThreadRow<Session extends Listed> {
  session: Session;
  /** 0 for a session that was not forked from a listed one. */
  depth: number;
}

/** Keeps the order of `sessions`: a thread is where the first of its sessions is, and forks of one session are in their order. */
export function listThreads<Session extends Listed>(sessions: readonly Session[]): ThreadRow<Session>[] {
  const byPath = new Map(sessions.map((session) => [session.path, session]));
  const getParent = ({ parentSession }: Session) =>
    parentSession === undefined ? undefined : byPath.get(parentSession);
  const children = new Map<Session, Session[]>();
  const roots = new Set<Session>();
  const known = new Map<Session, Session>();
  for (const session of sessions) {
    const parent = getParent(session);
    const siblings = parent && children.get(parent);
    if (siblings) siblings.push(session);
    else if (parent) children.set(parent, [session]);
    roots.add(findRoot(session, getParent, known));
  }
  const rows: ThreadRow<Session>[] = [];
  const listed = new Set<Session>();
  // Not recursive: files may name any number of parents.
  const open = [...roots].toReversed().map((session): ThreadRow<Session> => ({ session, depth: 0 }));
  for (let row = open.pop(); row; row = open.pop()) {
    const { session, depth } = row;
    if (listed.has(session)) continue;
    listed.add(session);
    rows.push(row);
    for (const child of (children.get(session) ?? []).toReversed()) open.push({ session: child, depth: depth + 1 });
  }
  return rows;
}

/** Finds the first of a thread, once for all sessions on the way. Of sessions that name each other, it is any of them. */
function findRoot<Session>(
  session: Session,
  getParent: (session: Session) => Session | undefined,
  known: Map<Session, Session>,
): Session {
  const passed = new Set([session]);
  let root = session;
  for (let parent = getParent(root); parent && !passed.has(parent); parent = getParent(root)) {
    root = known.get(parent) ?? parent;
    passed.add(parent);
    if (root !== parent) break;
  }
  for (const each of passed) known.set(each, root);
  return root;
}
