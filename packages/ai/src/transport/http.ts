/** One request, ready to be sent. */
export interface HttpRequest {
  method: "POST" | "GET";
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

export interface HttpResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Leaving it early does not end the response: `discard` does, or the request's signal. */
  body: AsyncIterable<Uint8Array>;
  /** The rest is of no interest. A connection whose response ends soon is kept; any other is closed. */
  discard(): void;
  /** The rest must not be read: the connection is closed. */
  cut(): void;
}

export interface SendOptions {
  signal: AbortSignal;
  /** Reads proxy settings and extra certificates. */
  env: (name: string) => string | undefined;
}

/**
 * The one way out. Rejects for sockets, names and certificates; every HTTP status is a response. Never follows a
 * redirect to another host, so that a key reaches only the host it was meant for. Aborting `signal` ends the request
 * and its body at once.
 */
export type Send = (request: HttpRequest, options: SendOptions) => Promise<HttpResponse>;

/** The most that one response may hold. A stream that goes on for longer is cut. */
export const maxResponseBytes = 128 * 1024 * 1024;

/** The most of an error's body that is read. */
export const maxErrorBytes = 64 * 1024;

/** Reads at most `limit` bytes as text; what is longer is cut. */
export async function readText(body: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    text += decoder.decode(size > limit ? chunk.subarray(0, chunk.length - (size - limit)) : chunk, { stream: true });
    if (size >= limit) break;
  }
  return text + decoder.decode();
}
