/** Reports which sessions wait for a place, and how many come before each of them. */
import type { Clock } from "@tau/ai";
import type { Client } from "../client.ts";
import { encodeFrame } from "../encoded-frame.ts";
import type { Lanes } from "./lanes.ts";

export interface WaitingSessionsParts {
  clock: Clock;
  getLanes: () => Pick<Lanes, "listWaiting">;
  listFollowers: (sessionId: string) => readonly Client[];
  /** Called with each session whose place in the line has changed. */
  onChanged: (sessionId: string) => void;
}

/** Changes of this time are reported together. A place that is free is given within it, and nothing is reported. */
const collectMs = 250;

export class WaitingSessions {
  readonly #parts: WaitingSessionsParts;
  /** By session, from 1, as was last reported. */
  #positions: ReadonlyMap<string, number> = new Map();
  #cancelTimer: (() => void) | undefined;

  constructor(parts: WaitingSessionsParts) {
    this.#parts = parts;
  }

  /** The place of a session in the line, from 1. Undefined if it does not wait. */
  getPosition(sessionId: string): number | undefined {
    return this.#positions.get(sessionId);
  }

  /** Called when the places, or the line of those that wait, have changed. */
  readonly onChange = (): void => {
    this.#cancelTimer ??= this.#parts.clock.setTimer(collectMs, () => this.#report());
  };

  close(): void {
    this.#cancelTimer?.();
  }

  #report(): void {
    this.#cancelTimer = undefined;
    const before = this.#positions;
    this.#positions = new Map(
      this.#parts
        .getLanes()
        .listWaiting()
        .map((sessionId, index) => [sessionId, index + 1]),
    );
    for (const sessionId of new Set([...before.keys(), ...this.#positions.keys()])) {
      const position = this.#positions.get(sessionId);
      if (position === before.get(sessionId)) continue;
      this.#parts.onChanged(sessionId);
      const payload = { sessionId, ...(position !== undefined && { position }) };
      const frame = encodeFrame({ type: "event", event: "session.waiting", payload });
      for (const client of this.#parts.listFollowers(sessionId)) client.send(frame);
    }
  }
}
