/** `fetch` that goes through a proxy as requests to models do: Node's own knows of none in versions that are in use. */
import { platform } from "#platform";
import type { Env } from "../platform/platform.ts";
import { findProxy } from "./proxy.ts";

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Responses without a body, as the standard has it. */
const emptyStatuses: readonly number[] = [101, 204, 205, 304];

/**
 * Without a proxy for an address it is Node's `fetch`. With one, only texts can be sent, and only redirects that stay at the
 * host and keep the method are followed: every other one is the response.
 */
export const createProxiedFetch =
  (env: Env): Fetch =>
  async (address, init = {}) => {
    const url = new URL(address);
    if (!findProxy(url, env)) return await fetch(url, init);
    const { method = "GET", body, signal, redirect = "follow" } = init;
    if (body !== undefined && body !== null && typeof body !== "string" && !(body instanceof URLSearchParams))
      throw new TypeError("Only texts can be sent through a proxy.");
    const headers = new Headers(init.headers);
    if (body instanceof URLSearchParams && !headers.has("content-type"))
      headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
    const response = await platform.send(
      { method, url: url.href, headers: Object.fromEntries(headers), body: String(body ?? "") },
      { env, signal: signal ?? new AbortController().signal, followsRedirects: redirect === "follow" },
    );
    const { status } = response;
    const hasBody = !emptyStatuses.includes(status);
    if (!hasBody) response.discard();
    const result = new Response(hasBody ? toStream(response) : null, { status, headers: response.headers });
    // Not set by the constructor.
    Object.defineProperty(result, "url", { value: url.href });
    return result;
  };

function toStream({ body, cut }: { body: AsyncIterable<Uint8Array>; cut(): void }): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => cut(),
  });
}
