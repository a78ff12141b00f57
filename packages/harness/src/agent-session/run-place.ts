/** A run that may be in progress now. */
export interface RunPlace {
  /** Called when the run is over and nothing follows it. */
  release(): void;
  /** Called while the run only waits for others, which may run instead. */
  pause(): void;
  /** Called after `pause`. Resolves when the run may continue, and soon when the signal aborts. */
  resume(signal: AbortSignal): Promise<void>;
}
