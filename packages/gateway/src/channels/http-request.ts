/** Sends one request to a platform, and says how far it came when there is no answer. */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { getErrorMessage } from "@tau/ai/internal";

interface PlatformRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly timeoutMs: number;
  /** Default: 1 MiB. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export type PlatformAnswer =
  | { readonly kind: "answer"; readonly status: number; readonly headers: Headers; readonly body: Buffer }
  /** The platform cannot have received it. */
  | { readonly kind: "not_sent"; readonly reason: string }
  /** Perhaps the platform has received it. */
  | { readonly kind: "unknown"; readonly reason: string };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const defaultMaxBytes = 1024 * 1024;

export function requestPlatform(request: PlatformRequest): Promise<PlatformAnswer> {
  const { url, method, headers, body, timeoutMs, maxBytes = defaultMaxBytes, signal } = request;
  return new Promise((resolve) => {
    /** Whether any byte of the request can have left this machine. */
    let isConnected = false;
    const fail = (reason: string) => resolve({ kind: isConnected ? "unknown" : "not_sent", reason });
    const limit = AbortSignal.timeout(timeoutMs);
    const send = url.startsWith("https:") ? requestHttps : requestHttp;
    const sent = send(
      url,
      { method, headers, signal: signal ? AbortSignal.any([signal, limit]) : limit },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > maxBytes) sent.destroy(new Error(`the answer has more than ${maxBytes} bytes`));
          else chunks.push(chunk);
        });
        response.on("error", (error) => fail(describe(error, limit)));
        response.on("aborted", () => fail("the connection was closed in the middle of the answer"));
        response.on("end", () => {
          const { statusCode = 0 } = response;
          resolve({ kind: "answer", status: statusCode, headers: response.headers, body: Buffer.concat(chunks) });
        });
      },
    );
    sent.on("socket", (socket) => {
      const event = url.startsWith("https:") ? "secureConnect" : "connect";
      if (socket.connecting) socket.once(event, () => (isConnected = true));
      else isConnected = true;
    });
    sent.on("error", (error) => fail(describe(error, limit)));
    sent.end(body);
  });
}

const describe = (error: unknown, limit: AbortSignal): string =>
  limit.aborted ? "no answer came in time" : getErrorMessage(error);
