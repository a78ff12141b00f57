/** Pages of the web: redirects by hand, rules and limits of hosts, and a cache. */
import { parseRetryAfter } from "@tau/ai/internal";
import { WebFailure } from "../../kit/http/failure.ts";
import { parseAddress } from "../../kit/http/hosts.ts";
import { isAllowedByRobots } from "./robots.ts";
import {
  maxPageBytes,
  sendRequest,
  type SendLimits,
  type WebPorts,
  type WebRequest,
  type WebResponse,
} from "../../kit/http/send.ts";

export interface Page {
  /** Where it was in the end. */
  readonly url: string;
  /** The addresses that led there, without the last one. */
  readonly redirects: readonly string[];
  readonly response: WebResponse;
}

export interface PageOptions {
  readonly allowedPrivateHosts: readonly string[];
  readonly signal: AbortSignal | undefined;
  /** Asks whether another host may be read, to which a page leads. Throws if not. */
  mayRead(url: URL): Promise<void>;
  /** Whether the rules for programs apply; not for interfaces that are made for them. Default true. */
  readonly obeysRobots?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

const maxRedirects = 5;
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];

const cacheMs = 15 * 60_000;
const maxCached = 64;
const maxCachedBytes = 32 * 1024 * 1024;
const maxRobotsBytes = 512 * 1024;
const robotsTimeoutMs = 10_000;
/** After a host says that there were too many requests, without saying for how long. */
const defaultPauseMs = 60_000;
const maxPauseMs = 60 * 60_000;

/** Texts are preferred in this order. */
const accept =
  "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5";

interface Cached<T> {
  readonly value: T;
  readonly until: number;
}

export class Pages {
  readonly #ports: WebPorts;
  readonly #pages = new Map<string, Cached<Page>>();
  readonly #robots = new Map<string, Cached<string | "closed">>();
  /** When a host can be read again. */
  readonly #pauses = new Map<string, number>();

  constructor(ports: WebPorts) {
    this.#ports = ports;
  }

  /** Throws a `WebFailure`. Pages that a server refused are not kept. */
  async get(address: URL, options: PageOptions): Promise<Page> {
    const cached = this.#findCached(this.#pages, address.href);
    if (cached) {
      // The permission for another host may have been for one time.
      if (new URL(cached.url).hostname !== address.hostname) await options.mayRead(new URL(cached.url));
      return cached;
    }
    const redirects: string[] = [];
    let url = address;
    let leftMs = this.#ports.timeoutMs;
    for (;;) {
      const before = this.#ports.now();
      const response = await this.#send(url, options, leftMs);
      leftMs -= this.#ports.now() - before;
      const next = findRedirect(url, response);
      if (!next) return this.#keep(address.href, { url: url.href, redirects, response });
      redirects.push(url.href);
      if (redirects.length > maxRedirects || redirects.includes(next.href))
        throw new WebFailure(
          "redirects",
          `${address.href} leads from one address to another: ${redirects.join(" → ")}.`,
        );
      if (next.hostname !== url.hostname) await options.mayRead(next);
      url = next;
    }
  }

  async #send(url: URL, options: PageOptions, leftMs: number): Promise<WebResponse> {
    if (leftMs <= 0) throw new WebFailure("timeout", `${url.host} did not answer in time.`);
    this.#checkPause(url);
    const { allowedPrivateHosts, signal, headers, obeysRobots = true } = options;
    const limits = { allowedPrivateHosts, signal, maxBytes: maxPageBytes, timeoutMs: leftMs };
    if (obeysRobots) await this.#checkRobots(url, limits);
    return await this.request({ url, headers: { accept, ...headers } }, limits);
  }

  /** Sends one request, unless its host wants a pause. Redirects are answers. */
  async request(request: WebRequest, limits: SendLimits): Promise<WebResponse> {
    this.#checkPause(request.url);
    const response = await sendRequest(request, this.#ports, limits);
    const { status, headers } = response;
    if (status === 429 || (status === 503 && headers["retry-after"] !== undefined)) {
      const pauseMs = Math.min(parseRetryAfter(headers, Date.now()) ?? defaultPauseMs, maxPauseMs);
      this.#pauses.set(request.url.host, this.#ports.now() + pauseMs);
      throw describePause(request.url, pauseMs);
    }
    return response;
  }

  #checkPause(url: URL): void {
    const leftMs = (this.#pauses.get(url.host) ?? 0) - this.#ports.now();
    if (leftMs > 0) throw describePause(url, leftMs);
    this.#pauses.delete(url.host);
  }

  async #checkRobots(url: URL, limits: SendLimits): Promise<void> {
    const rules = await this.#getRobots(url, limits);
    if (rules !== "closed" && isAllowedByRobots(rules, url.pathname + url.search)) return;
    throw new WebFailure(
      "robots",
      `${url.host} does not want programs to read ${url.pathname} (its robots.txt), so it was not read.`,
    );
  }

  async #getRobots(url: URL, limits: SendLimits): Promise<string | "closed"> {
    const known = this.#findCached(this.#robots, url.origin);
    if (known !== undefined) return known;
    const rules = await this.#readRobots(url, limits);
    setBounded(this.#robots, url.origin, { value: rules, until: this.#ports.now() + cacheMs });
    return rules;
  }

  /** Without rules everything may be read. A host that fails to answer wants nothing to be read, as the standard has it. */
  async #readRobots(page: URL, limits: SendLimits): Promise<string | "closed"> {
    let url = new URL("/robots.txt", page);
    const timeoutMs = Math.min(limits.timeoutMs, robotsTimeoutMs);
    try {
      for (let count = 0; count <= maxRedirects; count++) {
        const response = await this.request({ url }, { ...limits, timeoutMs, maxBytes: maxRobotsBytes });
        if (response.status >= 500) return "closed";
        const next = findRedirect(url, response);
        // Rules of another host would have to be asked about.
        if (!next || next.hostname !== url.hostname)
          return response.status === 200 ? response.body.toString("utf8") : "";
        url = next;
      }
      return "";
    } catch (error) {
      if (error instanceof WebFailure && error.kind === "timeout") return "";
      throw error;
    }
  }

  #keep(key: string, page: Page): Page {
    if (page.response.status >= 400) return page;
    setBounded(this.#pages, key, { value: page, until: this.#ports.now() + cacheMs });
    let bytes = 0;
    for (const { value } of this.#pages.values()) bytes += value.response.body.length;
    for (const [oldest, { value }] of this.#pages) {
      if (bytes <= maxCachedBytes) break;
      bytes -= value.response.body.length;
      this.#pages.delete(oldest);
    }
    return page;
  }

  #findCached<T>(cache: Map<string, Cached<T>>, key: string): T | undefined {
    const cached = cache.get(key);
    if (cached && cached.until > this.#ports.now()) return cached.value;
    cache.delete(key);
    return undefined;
  }
}

/** Adds to a cache, and removes the oldest if it is full. */
function setBounded<T>(cache: Map<string, T>, key: string, value: T): void {
  cache.delete(key);
  cache.set(key, value);
  if (cache.size > maxCached) cache.delete(cache.keys().next().value!);
}

/** Returns where a response leads. Throws for an address that cannot be read. */
function findRedirect(from: URL, { status, headers }: WebResponse): URL | undefined {
  const { location } = headers;
  if (!redirectStatuses.includes(status) || location === undefined) return undefined;
  if (!URL.canParse(location, from))
    throw new WebFailure("redirects", `${from.href} leads to an address that cannot be read.`);
  return parseAddress(new URL(location, from).href);
}

const describePause = (url: URL, leftMs: number): WebFailure =>
  new WebFailure(
    "rate_limited",
    `${url.host} takes no more requests for ${Math.ceil(leftMs / 1_000)} seconds, so it was not read. Use something else meanwhile.`,
  );
