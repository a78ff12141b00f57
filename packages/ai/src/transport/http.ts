import type { Clock } from "../clock.ts";

/** Finds the addresses of a name, as `lookup` of `node:dns` does. Browsers find them on their own. */
type Lookup = (
  hostname: string,
  options: { all?: boolean | undefined },
  done: (error: Error | null, address: string | { address: string; family: number }[], family?: number) => void,
) => void;

export interface HttpRequest {
  method: string;
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

export interface HttpResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Stopping the iteration early does not end the response: call `discard` or abort the signal. */
  body: AsyncIterable<Uint8Array>;
  /** Ignores the rest of the body. If it ends soon, the connection is kept for reuse, else it is closed. */
  discard(): void;
  /** Closes the connection. */
  cut(): void;
}

export interface SendOptions {
  signal: AbortSignal;
  /** Looks up the variables for proxies and certificates. */
  env: (name: string) => string | undefined;
  /**
   * Finds the addresses of a name instead of the system, for a caller that has checked them; without a proxy. The connection is
   * not shared with other requests.
   */
  lookup?: Lookup;
  /** Whether redirects at the same host are followed. Default true. */
  followsRedirects?: boolean;
}

/**
 * Sends a request. Rejects on socket, DNS and certificate errors; every HTTP status is a response. Never follows a
 * redirect to another host, because the request carries a key. Aborting `signal` ends the request and its body at once.
 */
export type Send = (request: HttpRequest, options: SendOptions) => Promise<HttpResponse>;

/** Maximum size of a response. A longer stream is cut off. */
export const maxResponseBytes = 128 * 1024 * 1024;

/** Maximum number of bytes read from an error response. */
export const maxErrorBytes = 64 * 1024;

/** Reads at most `maxBytes` as text and ignores the rest. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  let text = "";
  for await (const piece of decodeText(body, maxBytes)) text += piece;
  return text;
}

/** Reads the body of an error as far as it arrives within `limitMs`. If the connection is lost, that is no error. */
export async function readErrorText(response: HttpResponse, limitMs: number, clock: Clock): Promise<string> {
  const cancelTimer = clock.setTimer(limitMs, () => response.cut());
  let text = "";
  try {
    for await (const piece of decodeText(response.body, maxErrorBytes)) text += piece;
    return text;
  } catch {
    // The status is known, which tells more than why the rest of the body is missing.
    return text;
  } finally {
    cancelTimer();
  }
}

async function* decodeText(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    const excess = Math.max(0, size - maxBytes);
    yield decoder.decode(chunk.subarray(0, chunk.length - excess), { stream: true });
    if (size >= maxBytes) break;
  }
  yield decoder.decode();
}
