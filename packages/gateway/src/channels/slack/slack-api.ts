/**
 * Calls Slack's Web API with Slack's own library. Its retries are turned off: the outbox alone sends again. Requests go by
 * `requestPlatform`, which knows whether one can have left this machine.
 */
import type { WebClientOptions } from "@slack/web-api";
import { isRecord } from "@tau/ai/internal";
import { requestPlatform } from "../http-request.ts";
import { type SlackAnswer, SlackRequestError, toFailure } from "./slack-answer.ts";

const answerTimeoutMs = 20_000;

interface SlackClientOptions {
  /** The address of Slack without `/api`. Default: that of Slack. */
  readonly baseUrl: string | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Options for each client of the library. */
export const getClientOptions = ({ baseUrl, timeoutMs = answerTimeoutMs, signal }: SlackClientOptions) =>
  ({
    slackApiUrl: `${getBaseUrl(baseUrl)}/api/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    fetch: createSlackFetch({ timeoutMs, ...(signal && { signal }) }),
  }) satisfies WebClientOptions;

export const getBaseUrl = (baseUrl = "https://slack.com"): string => baseUrl.replace(/\/$/, "");

/** Calls methods with the token of a bot. */
export interface SlackApi {
  call(method: string, params: Readonly<Record<string, unknown>>): Promise<SlackAnswer>;
}

/** Loads the library. */
export async function createSlackApi({
  token,
  ...options
}: SlackClientOptions & { readonly token: string }): Promise<SlackApi> {
  const { WebClient } = await import("./slack-libraries.ts");
  const client = new WebClient(token, { ...getClientOptions(options), logger: silentLogger });
  return {
    async call(method, params) {
      try {
        const result = await client.apiCall(method, params);
        return { kind: "ok", result: isRecord(result) ? result : {} };
      } catch (error) {
        return hideToken(toFailure(error), token);
      }
    },
  };
}

/** An error of the network can repeat what was sent. */
const hideToken = <T extends { readonly reason: string }>(failure: T, token: string): T => ({
  ...failure,
  reason: failure.reason.replaceAll(token, "[secret]"),
});

/** The library would write to the terminal. Failures are returned, and reported by the caller. */
const silentLogger: NonNullable<WebClientOptions["logger"]> = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => "error" as never,
  setName: () => {},
};

type SlackFetch = NonNullable<WebClientOptions["fetch"]>;

/** Follows no redirects. Throws a `SlackRequestError` if there is no answer. */
function createSlackFetch(limits: { timeoutMs: number; signal?: AbortSignal }): SlackFetch {
  return (async (input: string | URL, { headers, body }: { headers: Record<string, string>; body: string }) => {
    const answer = await requestPlatform({ url: String(input), method: "POST", headers, body, ...limits });
    if (answer.kind !== "answer") throw new SlackRequestError(answer.kind, answer.reason);
    const received = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) received.set(name, [value].flat().join(", "));
    }
    // Without a time the library would not recognise the limit.
    if (answer.status === 429 && !(Number(received.get("retry-after")) > 0)) received.set("retry-after", "1");
    const hasBody = ![204, 205, 304].includes(answer.status);
    return new Response(hasBody ? new Uint8Array(answer.body) : null, { status: answer.status, headers: received });
  }) as unknown as SlackFetch;
}
