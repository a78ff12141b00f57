/** Which sessions run, on the disk, so that a gateway that was killed, or did not wait for them, knows whose runs it cut. */
import type { Storage } from "@tau/harness/session";
import { Journal, type JournalOptions } from "../journal/journal.ts";

/** `cut`: its gateway ended before it did, and the session's log does not say so yet. */
type RunState = "running" | "cut";

interface RunRecord {
  sessionId: string;
  state: RunState | "ended";
}

/** How many sessions with a cut run are remembered. */
const maxRemembered = 10_000;

type RunRecordsOptions = Pick<JournalOptions<RunRecord>, "maxBytes" | "log">;

export class RunRecords {
  /** The states that are on the disk. */
  readonly #states: Map<string, RunState>;
  /** The last state that was asked for, while it is not on the disk yet. */
  readonly #pending = new Map<string, RunRecord>();
  readonly #journal: Journal<RunRecord>;
  #isStopping = false;

  private constructor(states: Map<string, RunState>, journal: Journal<RunRecord>) {
    this.#states = states;
    this.#journal = journal;
  }

  static async open(storage: Storage, options: RunRecordsOptions = {}): Promise<RunRecords> {
    const states = new Map<string, RunState>();
    const journal = await Journal.open<RunRecord>({
      ...options,
      storage,
      key: "gateway/runs",
      take: (record) => take(states, record),
      snapshot: () => [...states].map(([sessionId, state]) => ({ sessionId, state })),
    });
    for (const [sessionId, state] of states) if (state === "running") states.set(sessionId, "cut");
    return new RunRecords(states, journal);
  }

  /** A run of the session was cut when a gateway ended, and the session was not opened since. */
  wasCut(sessionId: string): boolean {
    return this.#get(sessionId) === "cut";
  }

  /** Resolves when it is on the disk that the session runs. */
  async begin(sessionId: string): Promise<void> {
    if (this.#get(sessionId) !== "running") await this.#set(sessionId, "running");
  }

  /** The gateway ends what still runs: ends are not recorded from now on, so those runs are cut. */
  stop(): void {
    this.#isStopping = true;
  }

  /** The run is over, or the log of the session says that it was cut. */
  async end(sessionId: string): Promise<void> {
    if (!this.#isStopping && this.#get(sessionId) !== "ended") await this.#set(sessionId, "ended");
  }

  #get(sessionId: string): RunRecord["state"] {
    return this.#pending.get(sessionId)?.state ?? this.#states.get(sessionId) ?? "ended";
  }

  async #set(sessionId: string, state: RunRecord["state"]): Promise<void> {
    const record = { sessionId, state };
    this.#pending.set(sessionId, record);
    try {
      await this.#journal.append(record);
    } finally {
      if (this.#pending.get(sessionId) === record) this.#pending.delete(sessionId);
    }
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

function take(states: Map<string, RunState>, { sessionId, state }: RunRecord): void {
  states.delete(sessionId);
  if (state === "ended") return;
  states.set(sessionId, state);
  if (states.size <= maxRemembered) return;
  for (const [other, known] of states) {
    if (known === "running") continue;
    states.delete(other);
    return;
  }
}
