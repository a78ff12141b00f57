/** Sends requests to an authorization server. Messages have nothing of its answer, which may repeat a secret. */
import { type Clock, systemClock } from "@tau/ai";
import { isRecord, platform, tryParseJson } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";
import type { Env } from "./auth-options.ts";
import { cancelled, type Failed, failed } from "./failure.ts";
import type { BodyFormat } from "./oauth-provider.ts";

export interface OAuthPost {
  url: string;
  fields: Readonly<Record<string, string>>;
  format: BodyFormat;
}

export interface OAuthPorts {
  clock?: Clock;
  /** The variables for proxies and certificates. Default: those of the process. */
  env?: Env;
  signal?: AbortSignal;
  /** The time limit for the whole answer, in milliseconds. Default 30,000. */
  timeoutMs?: number;
}

/** `json` is undefined if the answer is not a JSON object. */
export interface OAuthAnswer {
  kind: "answer";
  status: number;
  json: Record<string, unknown> | undefined;
}

const maxBytes = 256 * 1024;

export async function post(content: OAuthPost, ports: OAuthPorts = {}): Promise<OAuthAnswer | Failed> {
  return await send({ method: "POST", url: content.url, headers: getHeaders(content), body: encode(content) }, ports);
}

/** `headers` hold the token. */
export async function get(
  { url, headers }: { url: string; headers: Readonly<Record<string, string>> },
  ports: OAuthPorts = {},
): Promise<OAuthAnswer | Failed> {
  return await send({ method: "GET", url, headers: { accept: "application/json", ...headers }, body: "" }, ports);
}

type Request = Parameters<typeof platform.send>[0];

async function send(request: Request, ports: OAuthPorts): Promise<OAuthAnswer | Failed> {
  const { clock = systemClock, env = platform.env, signal, timeoutMs = 30_000 } = ports;
  if (signal?.aborted) return cancelled();
  const { host } = new URL(request.url);
  const limit = new AbortController();
  const stopTimer = clock.setTimer(timeoutMs, () => limit.abort());
  try {
    const signals = AbortSignal.any([limit.signal, ...(signal ? [signal] : [])]);
    const response = await platform.send(request, { signal: signals, env });
    const bytes = await readBody(response);
    if (!bytes) return failed("server", `${host} sent more than ${maxBytes} bytes. Try again later.`);
    return { kind: "answer", status: response.status, json: parse(bytes) };
  } catch (error) {
    if (signal?.aborted) return cancelled();
    if (limit.signal.aborted) {
      return failed("network", `${host} did not answer within ${timeoutMs / 1000} s. Try again later.`);
    }
    // Only the code: the message of the error may have parts of the request.
    return failed("network", `${host} could not be reached (${systemCode(error) ?? "no answer"}). Try again.`);
  } finally {
    stopTimer();
  }
}

/** Undefined if it is too long. */
async function readBody({ body, cut }: Response): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return (cut(), undefined);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

type Response = Awaited<ReturnType<typeof platform.send>>;

const encode = ({ fields, format }: OAuthPost) =>
  format === "json" ? JSON.stringify(fields) : new URLSearchParams(fields).toString();

const getHeaders = ({ format }: OAuthPost) => ({
  accept: "application/json",
  "content-type": format === "json" ? "application/json" : "application/x-www-form-urlencoded",
});

function parse(bytes: Buffer): Record<string, unknown> | undefined {
  const value = tryParseJson(bytes.toString("utf8"));
  return isRecord(value) ? value : undefined;
}
