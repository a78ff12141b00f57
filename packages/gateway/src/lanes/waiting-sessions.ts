/** Reports which sessions wait for a place, and how many come before each of them. */
import type { Clock } from "@tau/ai";
import type { Client } from "../client.ts";
import { encodeFrame } from "../encoded-frame.ts";
import type { Lanes } from "./lanes.ts";

interface WaitingSessionsParts {
  clock: Clock;
  lanes: Pick<Lanes, "listWaiting" | "onChange">;
  listFollowers: (sessionId: string) => readonly Client[];
}

/** Changes of this time are reported together. A place that is free is given within it, and nothing is reported. */
const collectMs = 250;

export class WaitingSessions {
  readonly #parts: WaitingSessionsParts;
  /** By session, from 1, as was last reported. */
  #positions: ReadonlyMap<string, number> = new Map();
  readonly #listeners = new Set<(sessionId: string) => void>();
  #cancelTimer: (() => void) | undefined;

  constructor(parts: WaitingSessionsParts) {
    this.#parts = parts;
    const { clock, lanes } = parts;
    lanes.onChange(() => {
      this.#cancelTimer ??= clock.setTimer(collectMs, () => this.#report());
    });
  }

  /** Calls the listener with each session whose place in the line has changed. */
  onChange(listener: (sessionId: string) => void): void {
    this.#listeners.add(listener);
  }

  /** The place of a session in the line, from 1. Undefined if it does not wait. */
  getPosition(sessionId: string): number | undefined {
    return this.#positions.get(sessionId);
  }

  close(): void {
    this.#cancelTimer?.();
  }

  #report(): void {
    this.#cancelTimer = undefined;
    const before = this.#positions;
    const waiting = this.#parts.lanes.listWaiting();
    this.#positions = new Map(waiting.map((sessionId, index) => [sessionId, index + 1]));
    for (const sessionId of new Set([...before.keys(), ...this.#positions.keys()])) {
      const position = this.#positions.get(sessionId);
      if (position === before.get(sessionId)) continue;
      for (const listener of this.#listeners) listener(sessionId);
      const payload = { sessionId, ...(position !== undefined && { position }) };
      const frame = encodeFrame({ type: "event", event: "session.waiting", payload });
      for (const client of this.#parts.listFollowers(sessionId)) client.send(frame);
    }
  }
}
