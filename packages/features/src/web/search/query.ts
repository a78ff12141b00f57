/** A search, and what providers answer. */

const recencies = ["day", "week", "month", "year"] as const;
export type Recency = (typeof recencies)[number];

export interface SearchQuery {
  readonly query: string;
  readonly count: number;
  readonly recency: Recency | undefined;
  /** A host, such as `docs.example.org`. */
  readonly site: string | undefined;
  /** The time of the search, for providers that take dates. */
  readonly nowMs: number;
}

export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly date?: string;
  readonly excerpt: string;
}

/** A provider: how it is asked, and how its answers are read. Pure. */
export interface SearchProvider {
  /** For the setting `webSearch.providers`. */
  readonly name: string;
  readonly title: string;
  /** Without a slash at the end; undefined if everybody has one of their own. */
  readonly baseUrl: string | undefined;
  /** Variables with the key, the first of which that is set is used. Empty: it needs none. */
  readonly keys: readonly string[];
  /** A variable with something else that it needs, which `request` gets as `extra`. */
  readonly extra?: string;
  request(query: SearchQuery, access: ProviderAccess): ProviderRequest;
  /** Throws for an answer of another form. */
  parse(body: string): FoundPage[];
}

export interface ProviderAccess {
  readonly baseUrl: string;
  /** Empty if it needs none. */
  readonly key: string;
  readonly extra: string;
}

interface ProviderRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with POST. */
  readonly json?: Readonly<Record<string, unknown>>;
}

const days: Readonly<Record<Recency, number>> = { day: 1, week: 7, month: 31, year: 366 };

/** The day from which on pages are wanted, as `YYYY-MM-DD`. */
export const getFirstDay = ({ recency, nowMs }: SearchQuery): string | undefined =>
  recency === undefined ? undefined : new Date(nowMs - days[recency] * 86_400_000).toISOString().slice(0, 10);

/** Adds the operator that most search engines know. A query that is longer than a provider takes is cut, but not the operator. */
export function withSite({ query, site }: SearchQuery, maxLength = Number.POSITIVE_INFINITY): string {
  const operator = site === undefined ? "" : ` site:${site}`;
  return query.slice(0, Math.max(0, maxLength - operator.length)).trimEnd() + operator;
}
