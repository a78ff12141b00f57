/** `fetch` of an extension: the host sends the request, if the policy allows the host name. */
import type { HostcallError, HostLink } from "./link.ts";
import type { HttpReply } from "../messages.ts";

const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);

export function createFetch(link: HostLink): typeof fetch {
  return async (input, init) => {
    let request = new Request(input, init);
    for (let count = 0; ; count++) {
      const { body, reply } = await send(link, request);
      const location = redirects.has(reply.status) ? new Headers(reply.headers as never).get("location") : null;
      if (location === null || request.redirect === "manual")
        return toResponse(reply, { url: request.url, redirected: count > 0 });
      if (request.redirect === "error" || count >= maxRedirects)
        throw new TypeError(`fetch failed: ${request.url} redirects${count >= maxRedirects ? " too often" : ""}.`);
      request = redirect(request, { body, reply, location });
    }
  };
}

async function send(link: HostLink, request: Request): Promise<{ body: Uint8Array<ArrayBuffer>; reply: HttpReply }> {
  const body = new Uint8Array(await request.arrayBuffer());
  const { method, url, headers, signal } = request;
  const sent = { method, url, headers: [...headers], body: Buffer.from(body).toString("base64") };
  try {
    return { body, reply: (await link.call("http", [sent], { signal })) as HttpReply };
  } catch (error) {
    // What code expects of a `fetch` that fails.
    signal.throwIfAborted();
    const { message, code } = error as HostcallError;
    throw Object.assign(new TypeError(message, { cause: error }), { code });
  }
}

/** They describe a body, which a request that has become a GET does not have. */
const bodyHeaders = ["content-encoding", "content-language", "content-location", "content-type"];

/** Each step is a request of its own, so that the policy decides about each host. */
function redirect(from: Request, step: { body: Uint8Array<ArrayBuffer>; reply: HttpReply; location: string }): Request {
  const url = new URL(step.location, from.url);
  const { status } = step.reply;
  const isGet = (status === 303 && from.method !== "HEAD") || (status < 303 && from.method === "POST");
  const headers = new Headers(from.headers);
  if (isGet) for (const name of bodyHeaders) headers.delete(name);
  if (url.origin !== new URL(from.url).origin) for (const name of ["authorization", "cookie"]) headers.delete(name);
  const method = isGet ? "GET" : from.method;
  const hasBody = !isGet && method !== "GET" && method !== "HEAD" && step.body.length > 0;
  return new Request(url, { method, headers, signal: from.signal, ...(hasBody && { body: step.body }) });
}

/** A response to these has no body, not even an empty one. */
const withoutBody = new Set([101, 204, 205, 304]);

function toResponse(
  { status, statusText, headers, body }: HttpReply,
  { url, redirected }: { url: string; redirected: boolean },
): Response {
  const content = withoutBody.has(status) ? null : Buffer.from(body, "base64");
  const response = new Response(content, { status, statusText, headers: headers as never });
  return Object.defineProperties(response, { url: { value: url }, redirected: { value: redirected } });
}
