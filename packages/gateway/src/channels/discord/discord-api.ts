/** Calls Discord's REST API with its library. Nothing is sent again here: the outbox alone decides about that. */
import { API } from "@discordjs/core";
import { REST, type RESTOptions } from "@discordjs/rest";
import { type DiscordFailure, toFailure } from "./discord-answer.ts";

export type DiscordAnswer<T> = { readonly kind: "ok"; readonly value: T } | DiscordFailure;

/** With the time to read the answer, which the library does not limit. */
const answerTimeoutMs = 15_000;

export class DiscordApi {
  readonly rest: REST;
  readonly #api: API;
  readonly #token: string;

  constructor({ baseUrl, token }: { baseUrl: string | undefined; token: string }) {
    this.#token = token;
    this.rest = new REST({
      ...(baseUrl !== undefined && { api: `${baseUrl.replace(/\/$/, "")}/api` }),
      retries: 0,
      rejectOnRateLimit: () => true,
      timeout: answerTimeoutMs,
      makeRequest: request,
    });
    this.#api = new API(this.rest);
  }

  /** Never rejects. */
  async call<T>(work: (api: API) => Promise<T>): Promise<DiscordAnswer<T>> {
    try {
      // The library forgets a token after one answer of 401.
      this.rest.setToken(this.#token);
      return { kind: "ok", value: await work(this.#api) };
    } catch (error) {
      const failure = toFailure(error);
      return { ...failure, reason: failure.reason.replaceAll(this.#token, "[secret]") };
    }
  }

  close(): void {
    this.rest.clearHashSweeper();
    this.rest.clearHandlerSweeper();
  }
}

type MakeRequest = RESTOptions["makeRequest"];

/**
 * Sends with Node's own `fetch`, so that no second HTTP client is loaded. A redirect is an error, because the request
 * carries the token. The types are those of a package whose code Node contains.
 */
const request = (async (url: string, init: RequestInit) => {
  const signal = AbortSignal.any([AbortSignal.timeout(answerTimeoutMs), ...(init.signal ? [init.signal] : [])]);
  const response = await fetch(url, { ...init, body: toOwnForm(init.body), redirect: "error", signal });
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
}) as unknown as MakeRequest;

/** A form that another copy of `fetch` has made becomes one that this one takes. */
function toOwnForm(body: RequestInit["body"]): NonNullable<RequestInit["body"]> | null {
  if (Object.prototype.toString.call(body) !== "[object FormData]") return body ?? null;
  const form = new FormData();
  for (const [name, value] of body as FormData) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, value.name);
  }
  return form;
}
