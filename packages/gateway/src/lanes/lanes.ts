/**
 * Places for runs: one for each session, and so many in all. Whoever holds a place for too long loses it: the
 * next one has a higher generation, and what the former holder does with its own place later has no effect.
 */
import type { Clock } from "@tau/ai";
import {
  addRequest,
  decideGrants,
  grantAll,
  type LaneLimits,
  type LaneName,
  noLanes,
  orderWaiting,
  removeRequest,
} from "./decide.ts";

interface LanePlaceOptions {
  sessionId: string;
  lanes: readonly LaneName[];
  /** See `PlaceRequest`. */
  owner: string;
  /** How long the place may be held. */
  maxHoldMs: number;
  /** Called when the place is lost because it was held for too long. */
  onLost?: () => void;
}

export interface LanePlace {
  /** Each place that is held has a higher one. Undefined while it waits. */
  readonly generation: number | undefined;
  /** False before the place was given, and after it was released, cancelled or lost. */
  readonly isHeld: boolean;
  /** Resolves with whether the place is held: false if it was cancelled while it waited, or the gateway stops. */
  readonly given: Promise<boolean>;
  /** Gives the place back, or stops waiting for it. Does nothing when it was lost. */
  release(): void;
}

/** How a request ends. */
interface PlaceEnds {
  give: (generation: number) => void;
  /** It will not be given. */
  refuse: () => void;
  join: () => LanePlace;
}

interface LanesParts {
  clock: Clock;
  getLimits: () => LaneLimits;
}

export class Lanes {
  readonly #parts: LanesParts;
  #state = noLanes;
  #lastId = 0;
  #lastGeneration = 0;
  readonly #places = new Map<number, PlaceEnds>();
  readonly #listeners = new Set<() => void>();
  #isClosed = false;

  constructor(parts: LanesParts) {
    this.#parts = parts;
  }

  /** Calls the listener after the places or the line of those that wait have changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** How many hold a place, and how many wait for one. */
  get counts(): { held: number; waiting: number } {
    return { held: this.#state.held.length, waiting: this.#places.size - this.#state.held.length };
  }

  /** The sessions that wait for a place, in the order in which they get one. */
  listWaiting(): string[] {
    return Array.from(orderWaiting(this.#state), ({ sessionId }) => sessionId);
  }

  /** Asks for a place. It may be held at once. */
  request({ sessionId, lanes, owner, maxHoldMs, onLost }: LanePlaceOptions): LanePlace {
    const request = { id: ++this.#lastId, sessionId, lanes, owner };
    let generation: number | undefined;
    let cancelTimer = () => {};
    let settle: (isHeld: boolean) => void = () => {};
    /** How many use the place, or wait for it. */
    let users = 0;
    const isThere = () => this.#places.has(request.id);
    const leave = () => {
      this.#places.delete(request.id);
      cancelTimer();
      settle(false);
      this.#state = removeRequest(this.#state, request);
      this.grant();
    };
    const given = new Promise<boolean>((resolve) => (settle = resolve));
    const join = (): LanePlace => {
      let isReleased = false;
      users++;
      return {
        get generation() {
          return generation;
        },
        get isHeld() {
          return generation !== undefined && !isReleased && isThere();
        },
        given,
        release: () => {
          if (isReleased) return;
          isReleased = true;
          if (--users === 0 && isThere()) leave();
        },
      };
    };
    this.#places.set(request.id, {
      join,
      refuse: () => settle(false),
      give: (next) => {
        generation = next;
        cancelTimer = this.#parts.clock.setTimer(maxHoldMs, () => {
          leave();
          onLost?.();
        });
        settle(true);
      },
    });
    const place = join();
    this.#state = addRequest(this.#state, request);
    this.grant();
    if (this.#isClosed) settle(false);
    return place;
  }

  /**
   * The place that somebody else has asked for in the name of the same session, or holds: the session has one run at a time.
   * It is free when both have released it. Undefined if there is none.
   */
  join(sessionId: string): LanePlace | undefined {
    const { held, waiting } = this.#state;
    const request = held.find((each) => each.sessionId === sessionId) ?? waiting.get(sessionId)?.[0];
    return request && this.#places.get(request.id)?.join();
  }

  /** Gives no further places: whoever waits for one will not get it. */
  close(): void {
    this.#isClosed = true;
    for (const requests of this.#state.waiting.values()) {
      for (const { id } of requests) this.#places.get(id)?.refuse();
    }
  }

  /** Gives free places to those that wait. Called from outside when the limits have changed. */
  grant(): void {
    if (this.#isClosed) return;
    const granted = decideGrants(this.#state, this.#parts.getLimits());
    this.#state = grantAll(this.#state, granted);
    for (const { id } of granted) this.#places.get(id)?.give(++this.#lastGeneration);
    for (const listener of this.#listeners) listener();
  }
}
