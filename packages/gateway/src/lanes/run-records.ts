/** Which sessions run, on the disk, so that a gateway that was killed knows whose runs it cut. */
import { join } from "node:path";
import { Journal, type JournalOptions } from "../journal/journal.ts";

/** `cut`: its gateway was killed. `closed`: the same, and the session's log says so. */
type RunState = "running" | "cut" | "closed";

interface RunRecord {
  sessionId: string;
  state: RunState | "ended";
}

/** How many sessions with a cut run are remembered. */
const maxRemembered = 10_000;

export type RunRecordsOptions = Pick<JournalOptions<RunRecord>, "fileSystem" | "clock" | "ids" | "maxBytes">;

export class RunRecords {
  /** What is on the disk. */
  readonly #states: Map<string, RunState>;
  /** The last state that was asked for, while it is not on the disk yet. */
  readonly #pending = new Map<string, RunRecord>();
  readonly #journal: Journal<RunRecord>;

  private constructor(states: Map<string, RunState>, journal: Journal<RunRecord>) {
    this.#states = states;
    this.#journal = journal;
  }

  /** `directory` is that of the gateway. */
  static async open(directory: string, options: RunRecordsOptions = {}): Promise<RunRecords> {
    const states = new Map<string, RunState>();
    const journal = await Journal.open<RunRecord>({
      ...options,
      path: join(directory, "runs.jsonl"),
      take: (record) => take(states, record),
      snapshot: () => [...states].map(([sessionId, state]) => ({ sessionId, state })),
    });
    for (const [sessionId, state] of states) if (state === "running") states.set(sessionId, "cut");
    return new RunRecords(states, journal);
  }

  /** A run of the session was cut by a crash, and none has begun since. */
  isInterrupted(sessionId: string): boolean {
    const state = this.#get(sessionId);
    return state === "cut" || state === "closed";
  }

  /** The same, and its log does not say so yet. */
  wasCut(sessionId: string): boolean {
    return this.#get(sessionId) === "cut";
  }

  /** Resolves when it is on the disk that the session runs. */
  async begin(sessionId: string): Promise<void> {
    if (this.#get(sessionId) !== "running") await this.#set(sessionId, "running");
  }

  async end(sessionId: string): Promise<void> {
    if (this.#get(sessionId) === "running") await this.#set(sessionId, "ended");
  }

  /** The log of the session says that its run was cut. */
  async markClosed(sessionId: string): Promise<void> {
    if (this.wasCut(sessionId)) await this.#set(sessionId, "closed");
  }

  /** The session's run was not cut after all: its log ends with a whole answer. */
  async forget(sessionId: string): Promise<void> {
    if (this.isInterrupted(sessionId)) await this.#set(sessionId, "ended");
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
