/** Requests to the REST API: pages, limits and errors, whichever way they are sent. */
import type { Clock } from "@tau/ai";
import { asRecord, isRecord, sleep } from "@tau/ai/internal";
import { toVisibleLine } from "../kit/visible-text.ts";
import { GitHubFailure } from "./failure.ts";

interface ApiRequest {
  readonly method: "GET" | "POST";
  /** Begins with a slash. With the query. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The form of the answer. Default: that of GitHub for JSON. */
  readonly accept?: string;
}

export interface ApiResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a request, as `gh` or with a token. Throws a `GitHubFailure` if there is no answer. */
export type Transport = (request: ApiRequest, signal: AbortSignal | undefined) => Promise<ApiResponse>;

export type Json = Readonly<Record<string, unknown>>;

/** A limit that ends sooner is waited for, once. */
const maxWaitMs = 30_000;
const maxPageSize = 100;
/** A list in which little is wanted is not read to its end. */
const maxPages = 20;

export class GitHubApi {
  readonly #send: Transport;
  readonly #clock: Clock;

  constructor(send: Transport, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** Throws a `GitHubFailure`. */
  async get(path: string, signal?: AbortSignal): Promise<Json> {
    return parseObject(await this.#request({ method: "GET", path }, signal));
  }

  async post(path: string, body: Json, signal?: AbortSignal): Promise<Json> {
    return parseObject(await this.#request({ method: "POST", path, body }, signal));
  }

  /**
   * Reads a list, page by page, until there are `limit` items that `isWanted` takes. `key` names the list in each answer, where that is an
   * object.
   */
  async list(
    path: string,
    { limit, key, accept, isWanted, signal }: ListOptions,
  ): Promise<{ items: Json[]; hasMore: boolean }> {
    const items: Json[] = [];
    const size = isWanted ? maxPageSize : Math.min(limit, maxPageSize);
    let next: string | undefined = `${path}${path.includes("?") ? "&" : "?"}per_page=${size}`;
    for (let page = 0; next !== undefined && items.length < limit && page < maxPages; page++) {
      const request: ApiRequest = { method: "GET", path: next, ...(accept !== undefined && { accept }) };
      const response: ApiResponse = await this.#request(request, signal);
      const value: unknown = parseJson(response);
      const list: unknown = key === undefined ? value : asRecord(value)[key];
      if (!Array.isArray(list))
        throw new GitHubFailure("unreadable", "GitHub answered with something that is not a list.");
      const records = list.filter(isRecord);
      items.push(...(isWanted ? records.filter(isWanted) : records));
      next = findNext(response.headers["link"]);
    }
    return { items: items.slice(0, limit), hasMore: next !== undefined || items.length > limit };
  }

  async #request(request: ApiRequest, signal: AbortSignal | undefined): Promise<ApiResponse> {
    const first = await this.#send(request, signal);
    const waitMs = findWaitMs(first, this.#clock.now());
    if (waitMs === undefined) return mustSucceed(request, first);
    if (waitMs > maxWaitMs) throw limited(waitMs, this.#clock.now());
    await sleep(this.#clock, waitMs, signal);
    signal?.throwIfAborted();
    const second = await this.#send(request, signal);
    const again = findWaitMs(second, this.#clock.now());
    if (again !== undefined) throw limited(again, this.#clock.now());
    return mustSucceed(request, second);
  }
}

interface ListOptions {
  readonly limit: number;
  readonly key?: string;
  readonly accept?: string;
  readonly isWanted?: (item: Json) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** How long requests are refused for their number; undefined if they are not. Pure. */
export function findWaitMs({ status, headers }: ApiResponse, nowMs: number): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = Number(headers["retry-after"]);
  if (headers["retry-after"] !== undefined && Number.isFinite(after)) return Math.max(0, after * 1_000);
  if (headers["x-ratelimit-remaining"] === "0") {
    const reset = Number(headers["x-ratelimit-reset"]) * 1_000;
    return Number.isFinite(reset) ? Math.max(0, reset - nowMs) : 60_000;
  }
  return status === 429 ? 60_000 : undefined;
}

const limited = (waitMs: number, nowMs: number): GitHubFailure =>
  new GitHubFailure(
    "rate_limited",
    `GitHub takes no more requests until ${new Date(nowMs + waitMs).toISOString().slice(0, 19)}Z. Continue without it, or try again then.`,
  );

/** The path of the next page, of the same API. Pure. */
export function findNext(link: string | undefined): string | undefined {
  const [, address] = /<([^>]*)>\s*;[^,]*\brel="next"/.exec(link ?? "") ?? [];
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { pathname, search } = new URL(address);
  return `${pathname.replace(/^\/api\/v3(?=\/)/, "")}${search}`;
}

const explanations: Readonly<Record<number, string>> = {
  401: "The login is not accepted. The user can run gh auth login, or set GITHUB_TOKEN.",
  404: "It does not exist, or the login may not see it.",
  410: "It was deleted, or is turned off there.",
};

function mustSucceed({ method, path }: ApiRequest, response: ApiResponse): ApiResponse {
  const { status, body } = response;
  if (status >= 200 && status < 300) return response;
  const answer = parseSafely(body);
  const errors = Array.isArray(answer["errors"]) ? answer["errors"].map((error) => describeError(error)) : [];
  const message = [typeof answer["message"] === "string" ? answer["message"] : "", ...errors]
    .filter(Boolean)
    .join("; ");
  const kind = status === 404 ? "not_found" : "status";
  throw new GitHubFailure(
    kind,
    [`HTTP ${status} for ${method} ${path.split("?")[0]}.`, explanations[status], toVisibleLine(message, 500)]
      .filter(Boolean)
      .join(" "),
  );
}

const describeError = (error: unknown): string => {
  if (!isRecord(error)) return String(error);
  const { resource, field, code, message } = error;
  return typeof message === "string" ? message : [resource, field, code].filter((part) => part !== undefined).join(" ");
};

function parseSafely(body: string): Json {
  try {
    return asRecord(JSON.parse(body));
  } catch {
    return {};
  }
}

function parseJson({ body }: ApiResponse): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new GitHubFailure("unreadable", "GitHub answered with something that is not JSON.", { cause: error });
  }
}

function parseObject(response: ApiResponse): Json {
  const value = parseJson(response);
  if (isRecord(value)) return value;
  throw new GitHubFailure("unreadable", "GitHub answered with something that is not an object.");
}
