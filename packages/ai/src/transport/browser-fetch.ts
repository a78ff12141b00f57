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
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers.entries()),
    body: readChunks(reader),
    discard: () => void reader?.cancel(),
    cut: () => void reader?.cancel(),
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
