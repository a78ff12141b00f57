/** One question to an authorization server. Nothing of what it says goes into a message: it may repeat a secret. */
import * as http from "node:http";
import * as https from "node:https";
import { type Clock, systemClock, isRecord } from "@tau/ai";
import { systemCode } from "@tau/tools/platform";
import { type Failed, failed } from "./failure.ts";
import type { BodyFormat } from "./oauth-providers.ts";

export interface OAuthPost {
  url: string;
  fields: Readonly<Record<string, string>>;
  format: BodyFormat;
}

export interface OAuthPorts {
  clock?: Clock;
  signal?: AbortSignal;
  /** For the whole answer. Default 30,000. */
  timeoutMs?: number;
}

/** `json` is undefined when the answer is no JSON object. */
export interface OAuthAnswer {
  kind: "answer";
  status: number;
  json: Record<string, unknown> | undefined;
}

const maxBytes = 256 * 1024;

export function post(question: OAuthPost, ports: OAuthPorts = {}): Promise<OAuthAnswer | Failed> {
  const { clock = systemClock, signal, timeoutMs = 30_000 } = ports;
  const url = new URL(question.url);
  const body = encode(question);
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(aborted());
    const settle = (outcome: OAuthAnswer | Failed) => {
      cancel();
      signal?.removeEventListener("abort", onAbort);
      request.destroy();
      resolve(outcome);
    };
    const onAbort = () => settle(aborted());
    const cancel = clock.setTimer(timeoutMs, () =>
      settle(failed("network", `${url.host} did not answer within ${timeoutMs / 1000} s. Try again later.`)),
    );
    // The code of a socket's error says what happened; its text may say to whom and with what.
    const onError = (error: Error) =>
      settle(failed("network", `${url.host} could not be reached (${systemCode(error) ?? "no answer"}). Try again.`));
    const { request: ask } = url.protocol === "https:" ? https : http;
    const request = ask(url, { method: "POST", headers: getHeaders(question, body), agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) settle(failed("server", `${url.host} sent far more than an answer. Try again later.`));
        else chunks.push(chunk);
      });
      response.on("error", onError);
      response.on("end", () =>
        settle({ kind: "answer", status: response.statusCode ?? 0, json: parse(Buffer.concat(chunks)) }),
      );
    });
    request.on("error", onError);
    signal?.addEventListener("abort", onAbort, { once: true });
    request.end(body);
  });
}

const aborted = () => failed("aborted", "It was cancelled.");

const encode = ({ fields, format }: OAuthPost) =>
  format === "json" ? JSON.stringify(fields) : new URLSearchParams(fields).toString();

const getHeaders = ({ format }: OAuthPost, body: string) => ({
  accept: "application/json",
  "content-type": format === "json" ? "application/json" : "application/x-www-form-urlencoded",
  "content-length": Buffer.byteLength(body),
});

function parse(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
