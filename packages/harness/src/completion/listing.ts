/** A list of paths that is being filled, and its search. */
import type { Clock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { PathList } from "./path-list.ts";
import { PathSearch } from "./path-search.ts";
import type { PathQuery } from "./rank.ts";

/** Adds paths to the list until all are there or the signal aborts. */
type FillList<End> = (list: PathList, signal: AbortSignal) => Promise<End>;

interface ListingOptions<End> {
  fill: FillList<End>;
  clock: Clock;
  maxResults: number;
}

/** A directory of a network may never answer. */
const maxListingMs = 20_000;

export class Listing<End> {
  readonly paths = new PathList();
  readonly #search: PathSearch;
  readonly #abort = new AbortController();
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #whenComplete: Promise<void>;
  #completedMs: number | undefined;
  #end: End | undefined;

  constructor({ fill, clock, maxResults }: ListingOptions<End>) {
    this.#clock = clock;
    this.#startedMs = clock.monotonic();
    this.#search = new PathSearch(this.paths, { maxResults, clock });
    this.#whenComplete = this.#fill(fill);
  }

  async #fill(fill: FillList<End>): Promise<void> {
    const { signal } = this.#abort;
    const timeLimit = sleep(this.#clock, maxListingMs, signal).then(() => undefined);
    this.#end = await Promise.race([fill(this.paths, signal), timeLimit]);
    this.close();
    this.#completedMs = this.#clock.monotonic();
  }

  /** How it ended; undefined before that, or if it was stopped. */
  get end(): End | undefined {
    return this.#end;
  }

  get isComplete(): boolean {
    return this.#completedMs !== undefined;
  }

  /** Whether it was complete longer than this ago. */
  isOlderThan(ageMs: number): boolean {
    return this.#completedMs !== undefined && this.#clock.monotonic() - this.#completedMs > ageMs;
  }

  /** Resolves when it is complete, or when it was begun this long ago. */
  async wait(maxMs: number): Promise<void> {
    const remainingMs = this.#startedMs + maxMs - this.#clock.monotonic();
    if (this.isComplete || remainingMs <= 0) return;
    const abort = new AbortController();
    await Promise.race([this.#whenComplete, sleep(this.#clock, remainingMs, abort.signal)]);
    abort.abort();
  }

  /** Resolves when nothing is added any more. */
  get whenComplete(): Promise<void> {
    return this.#whenComplete;
  }

  /** See `PathSearch.search`. */
  search(query: PathQuery): Promise<string[] | undefined> {
    return this.#search.search(query);
  }

  close(): void {
    this.#abort.abort();
  }
}
