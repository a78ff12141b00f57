import { getErrorMessage } from "@tau/ai/internal";
import type { AgentSession } from "@tau/harness";
import type { AdmitRun } from "@tau/harness/host";
import { createStoppingError } from "../life/drain.ts";
import { chooseLanes } from "./decide.ts";
import type { LanePlace, Lanes } from "./lanes.ts";
import type { RunRecords } from "./run-records.ts";

/** A little longer than a run may take: a run that ends by its own limit keeps its place until then. */
export const maxRunMs = 48 * 60 * 60_000 + 60_000;

interface PlaceParts {
  lanes: Lanes;
  runs: RunRecords;
  log: (line: string) => void;
}

/** Does work that begins a run when there is a place for it, and holds the place until it is done. */
export async function holdPlace<T>(
  parts: PlaceParts,
  { session, owner }: { session: AgentSession; owner: string },
  work: () => Promise<T>,
): Promise<T> {
  const place = request(parts, session, owner);
  try {
    // A gateway that stops gives no more places.
    if (!(await place.given)) throw createStoppingError();
    return await work();
  } finally {
    place.release();
  }
}

/**
 * Lets the runs of sessions begin when there is a place for them. Most have one already, because somebody asked for the run
 * from outside; the others are begun by extensions, and wait like those.
 */
export const createAdmitRun =
  (parts: PlaceParts): AdmitRun =>
  async (session, signal) => {
    /** Aborts when the run waits for others again before it could continue. */
    let resuming = new AbortController();
    let place = parts.lanes.join(session.sessionId) ?? request(parts, session, "");
    const isHeld = await waitForPlace(place, signal);
    const tell = (error: unknown) => parts.log(getErrorMessage(error));
    // A run whose beginning could not be written down is only not known to be cut after a crash.
    if (isHeld) await parts.runs.begin(session.sessionId).catch(tell);
    return {
      release() {
        place.release();
        // Also for a run that could not begin, which has no event for its end.
        void parts.runs.end(session.sessionId).catch(tell);
      },
      // Only children wait in a lane for which their own children wait too.
      pause() {
        if (!session.isChild) return;
        resuming.abort();
        place.release();
      },
      async resume(runSignal) {
        if (!session.isChild) return;
        resuming = new AbortController();
        place = request(parts, session, "");
        await waitForPlace(place, AbortSignal.any([runSignal, resuming.signal]));
      },
    };
  };

/** Resolves with whether the place is held. A run that gets none, because the gateway stops, waits for whoever ends it. */
async function waitForPlace(place: LanePlace, signal: AbortSignal): Promise<boolean> {
  if (place.isHeld) return true;
  const aborted = new Promise<false>((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener("abort", () => resolve(false), { once: true });
  });
  return (await Promise.race([place.given, aborted])) || (await aborted);
}

function request({ lanes, log }: PlaceParts, session: AgentSession, owner: string) {
  const { sessionId, isChild } = session;
  return lanes.request({
    sessionId,
    lanes: chooseLanes({ isChild, isScheduled: false }),
    owner,
    maxHoldMs: maxRunMs,
    onLost: () => {
      log(`The run of the session ${sessionId} took too long and was ended.`);
      void session.abort("The run took too long.");
    },
  });
}
