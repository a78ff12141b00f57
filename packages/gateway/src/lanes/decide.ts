/** Decides which requests may run now. Pure: `lanes.ts` acts on it. */

/** `global`: all runs but those of sub-agents, whose parents hold a place there already. */
export type LaneName = "global" | "subagents" | "scheduled";

export type LaneLimits = Readonly<Record<LaneName, number>>;

/** The lanes that a run needs. `isChild`: another session has started this one, and waits for it. */
export function chooseLanes({ isChild, isScheduled }: { isChild: boolean; isScheduled: boolean }): readonly LaneName[] {
  if (isChild) return ["subagents"];
  return isScheduled ? ["global", "scheduled"] : ["global"];
}

export interface PlaceRequest {
  readonly id: number;
  readonly sessionId: string;
  /** The lanes in which it needs a place, all at once. */
  readonly lanes: readonly LaneName[];
}

export interface LaneState {
  /** The requests of each session, oldest first. The session that has waited longest for its turn comes first. */
  readonly waiting: ReadonlyMap<string, readonly PlaceRequest[]>;
  readonly held: readonly PlaceRequest[];
}

export const noLanes: LaneState = { waiting: new Map(), held: [] };

/** A session that waits already keeps its turn. */
export function addRequest({ waiting, held }: LaneState, request: PlaceRequest): LaneState {
  const { sessionId } = request;
  return { held, waiting: new Map(waiting).set(sessionId, [...(waiting.get(sessionId) ?? []), request]) };
}

/** A request that waits or holds is gone. The session of one that held a place goes to the end of the line. */
export function removeRequest({ waiting, held }: LaneState, { id, sessionId }: PlaceRequest): LaneState {
  const isHeld = held.some((request) => request.id === id);
  const queue = (waiting.get(sessionId) ?? []).filter((request) => request.id !== id);
  const others = new Map(waiting);
  if (isHeld || queue.length === 0) others.delete(sessionId);
  if (queue.length > 0) others.set(sessionId, queue);
  return { waiting: others, held: held.filter((request) => request.id !== id) };
}

/**
 * Which requests get their places now. Each session has one place: its requests are served in order. Between sessions,
 * the one that has waited longest for its turn comes first; one that needs a lane that is full does not hold up others.
 */
export function decideGrants({ waiting, held }: LaneState, limits: LaneLimits): readonly PlaceRequest[] {
  const counts: Record<LaneName, number> = { global: 0, subagents: 0, scheduled: 0 };
  const take = ({ lanes }: PlaceRequest) => lanes.forEach((lane) => counts[lane]++);
  held.forEach(take);
  const busy = new Set(held.map(({ sessionId }) => sessionId));
  const granted: PlaceRequest[] = [];
  for (const [sessionId, [first]] of waiting) {
    if (!first || busy.has(sessionId) || first.lanes.some((lane) => counts[lane] >= limits[lane])) continue;
    take(first);
    granted.push(first);
  }
  return granted;
}

/** The granted requests hold their places. */
export function grantAll(state: LaneState, granted: readonly PlaceRequest[]): LaneState {
  const waiting = new Map(state.waiting);
  for (const { sessionId } of granted) {
    const [, ...others] = waiting.get(sessionId) ?? [];
    if (others.length > 0) waiting.set(sessionId, others);
    else waiting.delete(sessionId);
  }
  return { waiting, held: [...state.held, ...granted] };
}
