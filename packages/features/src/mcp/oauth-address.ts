/** Which addresses a login may use. Pure, but for the requests of `createGuardedFetch`. */
import type { FetchLike } from "@modelcontextprotocol/client";
import { asRecord, type Fetch, tryParseJson } from "@tau/ai/internal";
import { createBoundedFetch } from "./bounded-fetch.ts";
import type { McpOAuth } from "./entry.ts";

const loopbackHosts = ["localhost", "127.0.0.1", "[::1]"];

const isLoopback = ({ hostname }: URL): boolean => loopbackHosts.includes(hostname);

/** Allows https; plain http on this machine only if the server is on this machine too. */
export const isAllowedAddress = (url: URL, server: URL): boolean =>
  url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url) && isLoopback(server));

export class RefusedAddressError extends Error {
  constructor(url: URL) {
    super(`It leads to ${url.protocol}//${url.host}, which a login may not use: only https addresses are allowed.`);
    this.name = "RefusedAddressError";
  }
}

const maxAnswerBytes = 1024 * 1024;
const maxAnswerMs = 30_000;

/** Follows no redirects: a token or a code would go along. */
export function createGuardedFetch(base: Fetch, server: URL, signal?: AbortSignal): FetchLike {
  const send = createBoundedFetch(base, maxAnswerBytes);
  return async (address, init) => {
    const url = new URL(address);
    if (!isAllowedAddress(url, server)) throw new RefusedAddressError(url);
    const signals = [AbortSignal.timeout(maxAnswerMs), signal, init?.signal].filter(
      (each) => each instanceof AbortSignal,
    );
    const response = await send(url, { ...init, redirect: "manual", signal: AbortSignal.any(signals) });
    return response.status >= 400 ? await withoutText(response) : response;
  };
}

/** Keeps the code of an error alone: the library prints the text of the server, which may repeat a secret. */
async function withoutText(response: Response): Promise<Response> {
  const { error } = asRecord(tryParseJson(await response.text())) ?? {};
  const body = typeof error === "string" && /^[\w.-]{1,60}$/.test(error) ? JSON.stringify({ error }) : "{}";
  const { status, statusText } = response;
  const challenge = response.headers.get("www-authenticate");
  const headers = { "content-type": "application/json", ...(challenge !== null && { "www-authenticate": challenge }) };
  return new Response(body, { status, statusText, headers });
}

interface Redirect {
  port: number;
  isFixed: boolean;
  path: string;
  host: "localhost" | "127.0.0.1";
}

/** Where the browser is redirected to; a sentence if the entry names something that is not on this machine. */
export function getRedirect({ callbackPort, callbackUrl }: McpOAuth): Redirect | string {
  const isPort = (port: number) => Number.isInteger(port) && port > 0 && port < 65_536;
  if (callbackPort !== undefined && !isPort(callbackPort)) return '"callbackPort" has to be between 1 and 65535.';
  if (callbackUrl === undefined)
    return { port: callbackPort ?? 0, isFixed: callbackPort !== undefined, path: "/callback", host: "127.0.0.1" };
  const url = URL.canParse(callbackUrl) ? new URL(callbackUrl) : undefined;
  const host = url?.hostname;
  if (url?.protocol !== "http:" || (host !== "localhost" && host !== "127.0.0.1") || url.search || url.hash)
    return '"callbackUrl" has to be an address on this machine, such as http://127.0.0.1:8765/callback.';
  const port = url.port === "" ? (callbackPort ?? 80) : Number(url.port);
  return { port, isFixed: true, path: url.pathname, host };
}
