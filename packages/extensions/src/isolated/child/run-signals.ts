/** The signals of runs. The host names a run by a number, and says when it was aborted. */
export interface RunSignals {
  /** Undefined for no run. */
  get(run: number | undefined): AbortSignal | undefined;
  abort(run: number): void;
}

export function createRunSignals(): RunSignals {
  let current: { run: number; controller: AbortController } | undefined;
  return {
    get(run) {
      if (run === undefined) return undefined;
      if (current?.run !== run) current = { run, controller: new AbortController() };
      return current.controller.signal;
    },
    abort(run) {
      if (current?.run === run) current.controller.abort();
    },
  };
}
