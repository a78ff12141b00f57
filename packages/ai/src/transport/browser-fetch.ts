import type { HttpRequest, HttpResponse, SendOptions } from "./http.ts";

/** The transport of a page. Proxies and certificates are the browser's business. */
export async function send(request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
  const response = await fetch(request.url, {
    method: request.method,
    headers: request.headers,
    body: request.body,
    signal: options.signal,
    redirect: "error",
    credentials: "omit",
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers.entries()),
    body: read(response.body),
  };
}

// Not every browser can iterate a stream directly.
async function* read(body: ReadableStream<Uint8Array> | null): AsyncIterable<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
