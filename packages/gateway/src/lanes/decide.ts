/** Decides which requests may run now. Pure: `lanes.ts` acts on it. */

/** `global`: all runs but those of sub-agents, whose parents hold a place there already. */
export type LaneName = "global" | "subagents" | "scheduled";

export type LaneLimits = Readonly<Record<LaneName, number>>;

/** The lanes that a run needs. `isChild`: another session has started this one, and waits for it. */
export function chooseLanes({ isChild, isScheduled }: { isChild: boolean; isScheduled: boolean }): readonly LaneName[] {
  if (isChild) return ["subagents"];
  return isScheduled ? ["global", "scheduled"] : ["global"];
}

interface PlaceRequest {
  readonly id: number;
  readonly sessionId: string;
  /** The lanes in which it needs a place, all at once. */
  readonly lanes: readonly LaneName[];
  /** The id of the device that asked for the run; empty if no device did. */
  readonly owner: string;
}

interface LaneState {
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
 * Decides which requests get their places now. Each session has one place: its requests are served in order. Between
 * sessions, `orderWaiting` decides; one that needs a lane that is full does not hold up others.
 */
export function decideGrants(state: LaneState, limits: LaneLimits): readonly PlaceRequest[] {
  const counts: Record<LaneName, number> = { global: 0, subagents: 0, scheduled: 0 };
  const take = ({ lanes }: PlaceRequest) => lanes.forEach((lane) => counts[lane]++);
  state.held.forEach(take);
  const granted: PlaceRequest[] = [];
  const isPossible = ({ lanes }: PlaceRequest) => lanes.every((lane) => counts[lane] < limits[lane]);
  // Thousands may wait while all lanes are full: they are not put in order for nothing, and not looked at to the last.
  const wanted = new Set<LaneName>();
  const isWanted = (request: PlaceRequest) => {
    if (!isPossible(request)) return false;
    for (const lane of request.lanes) wanted.add(lane);
    return true;
  };
  for (const request of orderWaiting(state, isWanted)) {
    if (!isPossible(request)) continue;
    take(request);
    granted.push(request);
    if ([...wanted].every((lane) => counts[lane] >= limits[lane])) break;
  }
  return granted;
}

/**
 * The requests that wait for a place, one for each session that holds none, in the order in which they are served. People
 * come before what is scheduled. Among each, the owner with the fewest places comes first, so that nobody who asks for much
 * holds up the others; between requests of one owner, the session that has waited longest. Leaves out those that are not wanted.
 */
export function* orderWaiting(
  { waiting, held }: LaneState,
  isWanted: (request: PlaceRequest) => boolean = () => true,
): Generator<PlaceRequest> {
  const busy = new Set(held.map(({ sessionId }) => sessionId));
  const first: PlaceRequest[] = [];
  for (const [request] of waiting.values()) {
    if (request && isWanted(request) && !busy.has(request.sessionId)) first.push(request);
  }
  const counts = new Map<string, number>();
  const count = (owner: string) => counts.set(owner, (counts.get(owner) ?? 0) + 1);
  for (const { owner } of held) count(owner);
  for (const isScheduled of [false, true]) {
    const queues = new Map<string, { readonly requests: PlaceRequest[]; next: number }>();
    for (const request of first) {
      if (request.lanes.includes("scheduled") !== isScheduled) continue;
      const queue = queues.get(request.owner) ?? { requests: [], next: 0 };
      queues.set(request.owner, queue);
      queue.requests.push(request);
    }
    while (queues.size > 0) {
      // The first of those with the fewest places: queues are in the order of their oldest requests.
      let [next] = queues.keys();
      for (const owner of queues.keys()) if ((counts.get(owner) ?? 0) < (counts.get(next!) ?? 0)) next = owner;
      const queue = queues.get(next!)!;
      const request = queue.requests[queue.next++]!;
      if (queue.next === queue.requests.length) queues.delete(next!);
      count(next!);
      yield request;
    }
  }
}

/** The granted requests hold their places. */
export function grantAll(state: LaneState, granted: readonly PlaceRequest[]): LaneState {
  if (granted.length === 0) return state;
  const waiting = new Map(state.waiting);
  for (const { sessionId } of granted) {
    const [, ...others] = waiting.get(sessionId) ?? [];
    if (others.length > 0) waiting.set(sessionId, others);
    else waiting.delete(sessionId);
  }
  return { waiting, held: [...state.held, ...granted] };
}
