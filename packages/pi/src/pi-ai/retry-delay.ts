import { parseDuration, parseRetryAfter } from "@tau/ai/internal";

const marginMs = 1_000;

/** How long to wait before the next request, in milliseconds and with a second to spare; undefined if nothing says so. */
export function extractRetryDelay(errorText: string, response?: Response | Headers): number | undefined {
  const headers = response instanceof Headers ? response : response?.headers;
  const delayMs = [...(headers ? readHeaders(headers, Date.now()) : []), readText(errorText)].find(
    (delay) => delay !== undefined && delay > 0,
  );
  return delayMs === undefined ? undefined : Math.ceil(delayMs + marginMs);
}

/** Headers by precedence. */
function readHeaders(headers: Headers, nowMs: number): (number | undefined)[] {
  const toMs = (name: string) => Number.parseFloat(headers.get(name) ?? "") * 1_000;
  return [
    parseRetryAfter(Object.fromEntries(headers), nowMs),
    toMs("x-ratelimit-reset") - nowMs,
    toMs("x-ratelimit-reset-after"),
  ];
}

function readText(text: string): number | undefined {
  const match = /(?:reset after |retry in |"retryDelay":\s*")((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)/i.exec(text);
  return match?.[1] === undefined ? undefined : parseDuration(match[1]);
}
