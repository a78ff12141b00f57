/** The place that the runs of one session need, and the end of the run that holds it. */
import { getErrorMessage } from "@tau/ai/internal";
import type { AgentSession } from "@tau/harness";
import { chooseLanes } from "../lanes/decide.ts";
import { maxRunMs } from "../lanes/hold-place.ts";
import type { Lanes, LanePlace } from "../lanes/lanes.ts";
import type { RunRecords } from "../lanes/run-records.ts";

interface RunPlaceParts {
  lanes: Lanes;
  runs: RunRecords;
  log: (line: string) => void;
  /** Called when the place is there, and when a run that was waited for is over. */
  wake: () => void;
}

export interface RunSender {
  isScheduled: boolean;
  /** See `PlaceRequest`. */
  owner: string;
}

export class RunPlace {
  readonly #sessionId: string;
  readonly #parts: RunPlaceParts;
  #place: LanePlace | undefined;
  /** A run may begin: the place is held, and the records say so. */
  #isReady = false;
  /** The session whose run is waited for. */
  #awaited: AgentSession | undefined;

  constructor(sessionId: string, parts: RunPlaceParts) {
    this.#sessionId = sessionId;
    this.#parts = parts;
  }

  get isWanted(): boolean {
    return this.#place !== undefined;
  }

  /** It is held, or will be in a moment. */
  get isHeld(): boolean {
    return this.#place?.isHeld === true;
  }

  /** Whether a run may begin now. If not, `wake` is called when it may. */
  take(session: AgentSession, sender: RunSender): boolean {
    if (!this.#place) void this.#request(session, sender);
    return this.#isReady;
  }

  release(): void {
    if (this.#isReady) void this.#parts.runs.end(this.#sessionId).catch(this.#tell);
    this.#isReady = false;
    this.#place?.release();
    this.#place = undefined;
  }

  /** When the run is over, `wake` is called. */
  wakeWhenIdle(session: AgentSession): void {
    if (this.#awaited === session) return;
    this.#awaited = session;
    void this.#awaitIdle(session);
  }

  async #awaitIdle(session: AgentSession): Promise<void> {
    await session.waitForIdle();
    if (this.#awaited === session) this.#awaited = undefined;
    this.#parts.wake();
  }

  async #request(session: AgentSession, { isScheduled, owner }: RunSender): Promise<void> {
    const { lanes, runs, log, wake } = this.#parts;
    const place = lanes.request({
      sessionId: this.#sessionId,
      lanes: chooseLanes({ isChild: session.isChild, isScheduled }),
      owner,
      maxHoldMs: maxRunMs,
      onLost: () => {
        log(`The run of the session ${this.#sessionId} took too long and was ended.`);
        if (this.#place === place) this.release();
        void session.abort("The run took too long.");
      },
    });
    this.#place = place;
    if (!(await place.given)) return;
    // A run whose beginning could not be written down is only not known to be cut after a crash.
    await runs.begin(this.#sessionId).catch(this.#tell);
    if (this.#place !== place) return;
    this.#isReady = true;
    wake();
  }

  readonly #tell = (error: unknown) => this.#parts.log(getErrorMessage(error));
}
