/** One request to an authorization server. Messages have nothing of its answer, which may repeat a secret. */
import * as http from "node:http";
import * as https from "node:https";
import { type Clock, systemClock } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";
import { cancelled, type Failed, failed } from "./failure.ts";
import type { BodyFormat } from "./oauth-providers.ts";

export interface OAuthPost {
  url: string;
  fields: Readonly<Record<string, string>>;
  format: BodyFormat;
}

export interface OAuthPorts {
  clock?: Clock;
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

export function post(content: OAuthPost, ports: OAuthPorts = {}): Promise<OAuthAnswer | Failed> {
  const { clock = systemClock, signal, timeoutMs = 30_000 } = ports;
  const url = new URL(content.url);
  const body = encode(content);
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(cancelled());
    const settle = (outcome: OAuthAnswer | Failed) => {
      cancel();
      signal?.removeEventListener("abort", onAbort);
      request.destroy();
      resolve(outcome);
    };
    const onAbort = () => settle(cancelled());
    const cancel = clock.setTimer(timeoutMs, () =>
      settle(failed("network", `${url.host} did not answer within ${timeoutMs / 1000} s. Try again later.`)),
    );
    // Only the code: the message of the error may have parts of the request.
    const onError = (error: Error) =>
      settle(failed("network", `${url.host} could not be reached (${systemCode(error) ?? "no answer"}). Try again.`));
    const { request: createRequest } = url.protocol === "https:" ? https : http;
    const request = createRequest(
      url,
      { method: "POST", headers: getHeaders(content, body), agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > maxBytes)
            settle(failed("server", `${url.host} sent more than ${maxBytes} bytes. Try again later.`));
          else chunks.push(chunk);
        });
        response.on("error", onError);
        response.on("end", () =>
          settle({ kind: "answer", status: response.statusCode ?? 0, json: parse(Buffer.concat(chunks)) }),
        );
      },
    );
    request.on("error", onError);
    signal?.addEventListener("abort", onAbort, { once: true });
    request.end(body);
  });
}

const encode = ({ fields, format }: OAuthPost) =>
  format === "json" ? JSON.stringify(fields) : new URLSearchParams(fields).toString();

const getHeaders = ({ format }: OAuthPost, body: string) => ({
  accept: "application/json",
  "content-type": format === "json" ? "application/json" : "application/x-www-form-urlencoded",
  "content-length": Buffer.byteLength(body),
});

function parse(bytes: Buffer): Record<string, unknown> | undefined {
  const value = tryParseJson(bytes.toString("utf8"));
  return isRecord(value) ? value : undefined;
}
