import type { HttpRequest, HttpResponse, SendOptions } from "./http.ts";

/** The transport for browsers, which handle proxies and certificates themselves. */
export async function send(request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
  const response = await fetch(request.url, {
    method: request.method,
    headers: request.headers,
    body: request.body,
    signal: options.signal,
    redirect: "error",
    credentials: "omit",
  });
  const reader = response.body?.getReader();
  // Rejects if the response has failed, and then its reader has got the error.
  const cancel = () => void reader?.cancel().catch(() => undefined);
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers.entries()),
    body: readChunks(reader),
    discard: cancel,
    cut: cancel,
  };
}

// Not every browser can iterate over a stream directly.
async function* readChunks(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): AsyncIterable<Uint8Array> {
  for (;;) {
    const next = await reader?.read();
    if (!next || next.done) return;
    yield next.value;
  }
}
