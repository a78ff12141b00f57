/** Reads the events of a session one after the other, at the speed of who reads them, until something is over. */
import { HarnessError } from "@tau/protocol";
import type { Cursor, HostedSession, HostEvent } from "./hosted-session.ts";

export interface EventFeed {
  readonly hosted: HostedSession;
  /** The last event that the reader has seen. Undefined: the reader begins with a view. */
  readonly from: Cursor | undefined;
  /** Settles when no event follows. Rejects if there is a reason that the reader has to know. */
  readonly until: Promise<unknown>;
}

/**
 * Reads what came after `from`, and then every event. Nothing is kept for a slow reader but what the session keeps for its
 * clients: who falls further behind gets a view instead. Ends when everything was read and `until` is resolved, throws what it
 * rejects with, and stops with `signal`.
 */
export async function* readEvents({ hosted, from, until }: EventFeed, signal: AbortSignal): AsyncGenerator<HostEvent> {
  let isOver = false;
  let wake = () => {};
  const onChange = () => wake();
  const onOver = () => {
    isOver = true;
    onChange();
  };
  until.then(onOver, onOver);
  signal.addEventListener("abort", onChange, { once: true });
  const stop = hosted.subscribe(onChange, hosted.position);
  try {
    for (let cursor = from; !signal.aborted;) {
      const changed = new Promise<void>((resolve) => (wake = resolve));
      const isLast = isOver;
      const events = hosted.listEventsAfter(cursor);
      for (const event of events) {
        cursor = event.position;
        yield event;
      }
      if (events.length === 0 && isLast) return void (await until);
      if (events.length === 0) await changed;
    }
  } finally {
    stop();
    signal.removeEventListener("abort", onChange);
  }
}

/** The id of an event on a wire. */
export const formatEventId = ({ epoch, seq }: Cursor): string => `${epoch}:${seq}`;

/** Throws `invalid_input` for a text that no event has as its id. */
export function parseEventId(id: string): Cursor {
  const match = /^(.+):(\d{1,15})$/.exec(id);
  if (!match) throw new HarnessError("invalid_input", `${JSON.stringify(id.slice(0, 80))} is not the id of an event.`);
  return { epoch: match[1]!, seq: Number(match[2]) };
}
