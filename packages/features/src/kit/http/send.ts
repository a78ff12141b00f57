/** Sends a request to a host that was checked, with limits of bytes and of time. Redirects are answers. */
import type { LookupFunction } from "node:net";
import { findProxy, getErrorMessage, platform, version } from "@tau/ai/internal";
import { WebFailure } from "./failure.ts";
import { type Lookup, resolveHost } from "./hosts.ts";

export interface WebPorts {
  readonly lookup: Lookup;
  /** The proxies of the user. */
  readonly env: (name: string) => string | undefined;
  /** Milliseconds of any clock that does not go back. */
  readonly now: () => number;
  /** For one page with its redirects, without the time that a person needs for answers. */
  readonly timeoutMs: number;
}

export interface WebRequest {
  readonly url: URL;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WebResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whether the body is longer than the limit, and cut there. */
  readonly isCut: boolean;
}

export interface SendLimits {
  readonly allowedPrivateHosts: readonly string[];
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The limit of a page, uncompressed. */
export const maxPageBytes = 5 * 1024 * 1024;

/** Throws a `WebFailure`; the reason of `signal` if that aborts. */
export async function sendRequest(
  { url, method = "GET", headers = {}, body = "" }: WebRequest,
  { lookup, env }: Pick<WebPorts, "lookup" | "env">,
  limits: SendLimits,
): Promise<WebResponse> {
  const time = AbortSignal.timeout(Math.max(1, Math.ceil(limits.timeoutMs)));
  const signal = limits.signal ? AbortSignal.any([limits.signal, time]) : time;
  try {
    const addresses = await resolveHost(url, { lookup, allowedPrivateHosts: limits.allowedPrivateHosts });
    if (addresses.length === 0 && !findProxy(url, env))
      throw new WebFailure("unknown_host", `The host ${url.hostname} was not found.`);
    const pinned: LookupFunction = (_name, options, callback) => {
      if (options.all) callback(null, [...addresses]);
      else callback(null, addresses[0]!.address, addresses[0]!.family);
    };
    const response = await platform.send(
      {
        method,
        url: url.href,
        headers: { "user-agent": `tau/${version}`, "accept-encoding": "gzip, br", ...headers },
        body,
      },
      { signal, env, followsRedirects: false, lookup: pinned },
    );
    const read = await readBody(response.body, limits.maxBytes);
    response.cut();
    return { status: response.status, headers: response.headers, ...read };
  } catch (error) {
    limits.signal?.throwIfAborted();
    if (error instanceof WebFailure) throw error;
    if (time.aborted) throw new WebFailure("timeout", `${url.host} did not answer in time.`, { cause: error });
    throw new WebFailure("connection", `${url.host} could not be read: ${getErrorMessage(error)}`, { cause: error });
  }
}

/** A compressed body is counted as what it becomes. */
async function readBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Pick<WebResponse, "body" | "isCut">> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    const left = maxBytes - size;
    if (chunk.length > left) {
      chunks.push(chunk.subarray(0, left));
      return { body: Buffer.concat(chunks), isCut: true };
    }
    chunks.push(chunk);
    size += chunk.length;
  }
  return { body: Buffer.concat(chunks), isCut: false };
}
