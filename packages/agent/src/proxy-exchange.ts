/** Decides what the proxy answers to a request, whatever server it came to. */
import { type Context, getModel, type Model, streamSimple } from "@tau/ai";
import { createProxyEncoder, pickOptions } from "./proxy.ts";
import type { StreamFn } from "./types.ts";

export interface ProxyHandlerOptions {
  /** The bearer token that clients must send, or a function that returns whether a token is valid. */
  authenticate: string | ((token: string) => boolean | Promise<boolean>);
  /**
   * Returns the model for a request; undefined refuses it. Default: looks in the catalogue. The client's own description
   * of the model is never used: its base URL would decide where the key is sent.
   */
  resolveModel?: (requested: { provider: string; id: string }) => Model | undefined;
  /** Default: `streamSimple`, with keys from the environment. */
  streamFn?: StreamFn;
  /** Larger requests are refused. Default 32 MiB. */
  maxBodyBytes?: number;
  /**
   * Origins whose pages may use the proxy from a browser, such as `https://app.example`, or `*` for all. They get the headers of
   * CORS, and preflight requests are answered; others are refused with 403. Default: no page of another origin can read an answer.
   */
  allowedOrigins?: readonly string[] | "*";
  /** Called with errors of the proxy itself; clients only learn that it failed. */
  onError?: (error: unknown) => void;
}

interface ProxyRequest {
  readonly method: string;
  readonly getHeader: (name: "authorization" | "origin") => string | undefined;
  /** Stops reading when the body is larger. */
  readonly readBody: (maxBytes: number) => Promise<ProxyBody>;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
}

export type ProxyBody =
  | { kind: "complete"; text: string }
  | { kind: "too_large" }
  | { kind: "disconnected" }
  | { kind: "consumed" };

export type ProxyAnswer =
  | { kind: "whole"; status: number; headers: Record<string, string>; body: string | undefined }
  /** `events` are server-sent events. Who does not read them to their end calls `return`. */
  | { kind: "stream"; headers: Record<string, string>; events: AsyncGenerator<string, void> }
  /** The client is gone: nothing is answered. */
  | { kind: "disconnected" };

const defaultMaxBodyBytes = 32 * 1024 * 1024;

export async function answerProxy(request: ProxyRequest, options: ProxyHandlerOptions): Promise<ProxyAnswer> {
  const { authenticate, maxBodyBytes = defaultMaxBodyBytes, resolveModel = resolveFromCatalog } = options;
  const { method, getHeader } = request;
  const origin = getHeader("origin");
  if (origin !== undefined && options.allowedOrigins && !isAllowedOrigin(origin, options.allowedOrigins)) {
    const advice = "The option allowedOrigins of createProxyHandler can name it.";
    return refuse(
      403,
      `Pages of ${JSON.stringify(origin.slice(0, maxOriginLength))} may not use this proxy. ${advice}`,
    );
  }
  const cors = getCorsHeaders(origin, options.allowedOrigins);
  if (method === "OPTIONS" && options.allowedOrigins)
    return { kind: "whole", status: 204, headers: { ...cors, ...preflightHeaders }, body: undefined };
  if (method !== "POST") return refuse(405, "Only POST requests are accepted.", cors);
  if (!(await isAllowed(getHeader("authorization"), authenticate)))
    return refuse(401, "The token is missing or wrong.", cors);
  const body = await request.readBody(maxBodyBytes);
  switch (body.kind) {
    case "disconnected":
      return body;
    case "consumed":
      return refuse(500, "The body has already been read: put this handler before body parsers.", cors);
    case "too_large":
      return refuse(413, "The request is too large.", cors);
    case "complete": {
      const parsed = parseBody(body.text);
      if (!parsed) return refuse(400, "The body must be JSON with model and context.", cors);
      const model = resolveModel(parsed.model);
      if (!model) return refuse(404, `The proxy has no model ${parsed.model.provider}/${parsed.model.id}.`, cors);
      const { streamFn = streamSimple } = options;
      const stream = await streamFn(model, parsed.context, {
        ...pickOptions(parsed.options),
        signal: request.signal,
      });
      return { kind: "stream", headers: { ...cors, ...streamHeaders }, events: encodeEvents(stream) };
    }
    default:
      return body satisfies never;
  }
}

const streamHeaders = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" };

async function* encodeEvents(stream: Awaited<ReturnType<typeof streamSimple>>): AsyncGenerator<string, void> {
  const encode = createProxyEncoder();
  for await (const event of stream) {
    for (const proxyEvent of encode(event)) yield `data: ${JSON.stringify(proxyEvent)}\n\n`;
  }
}

export const refuse = (
  status: number,
  message: string,
  headers: Record<string, string> = {},
): ProxyAnswer & { kind: "whole" } => ({
  kind: "whole",
  status,
  headers: { ...headers, "content-type": "application/json" },
  body: JSON.stringify({ error: message }),
});

/** Longer ones are cut in messages. */
const maxOriginLength = 200;

const isAllowedOrigin = (origin: string, allowed: "*" | readonly string[]): boolean =>
  allowed === "*" || allowed.some((each) => each.toLowerCase() === origin.toLowerCase());

/** A cache must not give the answer for one origin to another. */
const getCorsHeaders = (
  origin: string | undefined,
  allowed: ProxyHandlerOptions["allowedOrigins"],
): Record<string, string> =>
  allowed === undefined
    ? {}
    : { vary: "origin", ...(origin !== undefined && { "access-control-allow-origin": origin }) };

const preflightHeaders = {
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": "authorization, content-type",
  "access-control-max-age": "600",
};

const resolveFromCatalog = ({ provider, id }: { provider: string; id: string }): Model | undefined =>
  getModel(provider, id);

async function isAllowed(
  authorization: string | undefined,
  authenticate: ProxyHandlerOptions["authenticate"],
): Promise<boolean> {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) return false;
  return typeof authenticate === "string" ? await isEqual(token, authenticate) : await authenticate(token);
}

/** Compares digests, so that the duration does not reveal how much of a guess was right. */
async function isEqual(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([digest(a), digest(b)]);
  return first.every((byte, index) => byte === second[index]);
}

const digest = async (text: string) =>
  new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

interface ParsedBody {
  model: { provider: string; id: string };
  context: Context;
  options: object;
}

function parseBody(body: string): ParsedBody | undefined {
  try {
    const { model, context, options } = JSON.parse(body) as Partial<ParsedBody>;
    const isModel = typeof model?.provider === "string" && typeof model.id === "string";
    if (!isModel || !Array.isArray(context?.messages)) return undefined;
    return { model: { provider: model.provider, id: model.id }, context, options: options ?? {} };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
