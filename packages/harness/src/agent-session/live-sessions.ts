/** The sessions that are open in this process, so that a child finds its parent by id: it ends and spends with it. */
import type { Usage } from "@tau/ai";
import type { Budget } from "../budget/budget.ts";

export interface ChildSpending {
  provider: string;
  model: string;
  usage: Usage;
}

/** What a child needs of its parent. */
export interface LiveSession {
  readonly sessionId: string;
  /** Aborts when the parent's run does, and when it ends. */
  readonly signal: AbortSignal;
  /** What the parent may still use up. */
  readonly budget: Budget;
  /** Remembers what a child spent, so that it is not forgotten when the parent is opened again. */
  noteChild(spent: ChildSpending): Promise<void>;
}

const open = new Map<string, LiveSession>();

export const liveSession = (id: string): LiveSession | undefined => open.get(id);

export function addLiveSession(session: LiveSession): void {
  open.set(session.sessionId, session);
}

/** Another one with the same id may have been opened since. */
export function removeLiveSession(session: LiveSession): void {
  if (open.get(session.sessionId) === session) open.delete(session.sessionId);
}
