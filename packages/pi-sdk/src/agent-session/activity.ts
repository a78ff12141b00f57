type ActivityKind = "retrying" | "compacting" | "summarizing";

/** Holds what a session does besides the agent's own run, and how that is aborted. */
export class Activity {
  #current: { kind: "idle" } | { kind: ActivityKind; abort: AbortController } = { kind: "idle" };

  get kind(): ActivityKind | "idle" {
    return this.#current.kind;
  }

  async during<T>(kind: ActivityKind, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const activity = { kind, abort: new AbortController() };
    this.#current = activity;
    try {
      return await work(activity.abort.signal);
    } finally {
      // Another one may have begun meanwhile.
      if (this.#current === activity) this.#current = { kind: "idle" };
    }
  }

  abort(kind: ActivityKind): void {
    if (this.#current.kind !== "idle" && this.#current.kind === kind) this.#current.abort.abort();
  }
}
