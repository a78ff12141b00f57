/** `fetch` whose responses may not be longer than a message of MCP may be. */
import type { Fetch } from "@tau/ai/internal";
import { maxMessageBytes } from "./stdio-transport.ts";

/** In a stream of events each event is limited, else the whole body. */
export const createBoundedFetch =
  (base: Fetch, maxBytes = maxMessageBytes): Fetch =>
  async (url, init) => {
    const response = await base(url, init);
    if (!response.body) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
    const body = response.body.pipeThrough(createLimit(maxBytes, isStream));
    const { status, statusText, headers } = response;
    const bounded = new Response(body, { status, statusText, headers });
    // Not set by the constructor; redirects are recognised by it.
    Object.defineProperty(bounded, "url", { value: response.url });
    Object.defineProperty(bounded, "redirected", { value: response.redirected });
    return bounded;
  };

function createLimit(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      // An event ends with an empty line; the exact place does not matter for a limit of this size.
      const end = isStream ? findLastBlankLine(chunk) : -1;
      if (end >= 0) bytes = chunk.length - end;
      if (bytes > maxBytes)
        controller.error(new Error(`The server sent a message of more than ${maxBytes / 1024 / 1024} MB.`));
      else controller.enqueue(chunk);
    },
  });
}

function findLastBlankLine(chunk: Uint8Array): number {
  for (let index = chunk.length - 1; index > 0; index--) {
    if (chunk[index] !== 10) continue;
    const before = chunk[index - 1];
    if (before === 10 || (before === 13 && chunk[index - 2] === 10)) return index;
  }
  return -1;
}
