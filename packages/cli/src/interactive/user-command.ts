/** A command of the user that is called with JSON again and again: for the status line, and for notifications. */
import type { Clock } from "@tau/ai";

/** Runs a command, and resolves with its output; undefined if it failed or took too long. Never rejects. */
export type RunUserCommand = (request: UserCommandRequest, signal: AbortSignal) => Promise<string | undefined>;

interface UserCommandRequest {
  readonly command: string;
  readonly cwd: string;
  /** Written to its standard input, as JSON. */
  readonly input: unknown;
}

interface UserCommandOptions {
  readonly run: RunUserCommand;
  readonly clock: Clock;
  /** How long after a start the next one is waited for. */
  readonly minIntervalMs: number;
  readonly onOutput?: (output: string | undefined) => void;
}

/** Runs one at a time. Of the requests that come meanwhile, only the last is kept. */
export class UserCommand {
  readonly #options: UserCommandOptions;
  readonly #end = new AbortController();
  #waiting: UserCommandRequest | undefined;
  #isRunning = false;
  #cancelTimer: (() => void) | undefined;
  #startedAt = -Infinity;

  constructor(options: UserCommandOptions) {
    this.#options = options;
  }

  request(request: UserCommandRequest): void {
    this.#waiting = request;
    this.#next();
  }

  /** Ends what runs, and starts nothing any more. */
  close(): void {
    this.#cancelTimer?.();
    this.#end.abort();
  }

  #next(): void {
    const { clock, minIntervalMs } = this.#options;
    if (!this.#waiting || this.#isRunning || this.#cancelTimer || this.#end.signal.aborted) return;
    const waitMs = this.#startedAt + minIntervalMs - clock.monotonic();
    if (waitMs <= 0) return void this.#start();
    this.#cancelTimer = clock.setTimer(waitMs, () => {
      this.#cancelTimer = undefined;
      this.#next();
    });
  }

  async #start(): Promise<void> {
    const { run, clock, onOutput } = this.#options;
    const request = this.#waiting!;
    this.#waiting = undefined;
    this.#isRunning = true;
    this.#startedAt = clock.monotonic();
    const output = await run(request, this.#end.signal);
    this.#isRunning = false;
    if (this.#end.signal.aborted) return;
    onOutput?.(output);
    this.#next();
  }
}
