/** A search in the messages of sessions, for people who type. While one search is on its way, only the last wish is kept. */
import type { SearchData } from "../command-data.ts";

export interface MessageQuery {
  text: string;
  /** Whether the sessions of all directories are searched. */
  all: boolean;
}

export interface MessageSearchOptions {
  search: (query: MessageQuery) => Promise<SearchData>;
  /** Called when nothing is on its way any more; `error` says why the last search failed. */
  onChange: (error?: unknown) => void;
  query?: Partial<MessageQuery>;
}

const nothing: SearchData = { hits: [], hasMore: false };

export class MessageSearch {
  readonly #options: MessageSearchOptions;
  #query: MessageQuery;
  #found: SearchData = nothing;
  #isStale = false;
  #isSearching = false;
  #ended = Promise.resolve();

  constructor(options: MessageSearchOptions) {
    this.#options = options;
    this.#query = { text: "", all: false, ...options.query };
  }

  get query(): MessageQuery {
    return this.#query;
  }

  get hits(): SearchData["hits"] {
    return this.#found.hits;
  }

  get hasMore(): boolean {
    return this.#found.hasMore;
  }

  /** Whether something is on its way. */
  get isLoading(): boolean {
    return this.#isSearching;
  }

  /** Searches for something else. Resolves when the hits are there, or could not be found. */
  async load(change: Partial<MessageQuery>): Promise<void> {
    this.#query = { ...this.#query, ...change };
    this.#isStale = true;
    if (!this.#isSearching) this.#ended = this.#search();
    await this.#ended;
  }

  async #search(): Promise<void> {
    this.#isSearching = true;
    let error: unknown;
    while (this.#isStale) {
      this.#isStale = false;
      const query = this.#query;
      error = undefined;
      try {
        this.#found = query.text.trim() === "" ? nothing : await this.#options.search(query);
      } catch (reason) {
        error = reason;
        this.#found = nothing;
      }
    }
    this.#isSearching = false;
    this.#options.onChange(error);
  }
}

export interface ExcerptPart {
  text: string;
  isMatch: boolean;
}

/** An excerpt in parts. With `maxBefore`, no more of it comes before the first match. Pure. */
export function splitExcerpt(
  { text, marks }: SearchData["hits"][number]["excerpt"],
  { maxBefore = Infinity }: { maxBefore?: number } = {},
): ExcerptPart[] {
  const first = marks[0]?.[0] ?? 0;
  const start = Math.max(0, first - maxBefore);
  const parts: ExcerptPart[] = [{ text: `${start > 0 ? "…" : ""}${text.slice(start, first)}`, isMatch: false }];
  for (const [index, [from, to]] of marks.entries()) {
    parts.push({ text: text.slice(from, to), isMatch: true });
    parts.push({ text: text.slice(to, marks[index + 1]?.[0]), isMatch: false });
  }
  return parts.filter((part) => part.text !== "");
}
