/** The server half of `streamProxy`. */
import { type Context, getModel, type Model, streamSimple } from "@tau/ai";
import type { IncomingMessage, ServerResponse } from "node:http";
import { AgentError } from "./errors.ts";
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
  /** Called with errors of the proxy itself; clients only learn that it failed. */
  onError?: (error: unknown) => void;
}

/**
 * Creates a handler for a Node HTTP server. It answers POST requests on any path; clients send them to `/api/stream`. If
 * a client disconnects, the request to the provider is aborted.
 */
export function createProxyHandler(
  options: ProxyHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  if (typeof options.authenticate === "string" && options.authenticate === "") {
    throw new AgentError(
      "invalid_handler",
      "The proxy has an empty token. Set one, so that not every client is accepted.",
    );
  }
  return async (request, response) => {
    try {
      await handle(request, response, options);
    } catch (error) {
      // A defect here ends the request of one client, not the server.
      options.onError?.(error);
      if (!response.headersSent) refuse(response, 500, "The proxy failed.");
      else response.destroy();
    }
  };
}

async function handle(request: IncomingMessage, response: ServerResponse, options: ProxyHandlerOptions): Promise<void> {
  if (request.method !== "POST") return refuse(response, 405, "Only POST requests are accepted.");
  if (!(await isAllowed(request, options.authenticate))) return refuse(response, 401, "The token is missing or wrong.");
  const body = await readBody(request, options.maxBodyBytes ?? 32 * 1024 * 1024);
  if (body.kind === "disconnected") return;
  if (body.kind === "consumed") {
    return refuse(response, 500, "The body has already been read: put this handler before body parsers.");
  }
  if (body.kind === "too_large") return refuse(response, 413, "The request is too large.");
  const parsed = parseBody(body.text);
  if (!parsed) return refuse(response, 400, "The body must be JSON with model and context.");
  const model = (options.resolveModel ?? resolveFromCatalog)(parsed.model);
  if (!model) return refuse(response, 404, `The proxy has no model ${parsed.model.provider}/${parsed.model.id}.`);
  await answer(response, options.streamFn ?? streamSimple, { ...parsed, model });
}

const resolveFromCatalog = ({ provider, id }: { provider: string; id: string }) => getModel(provider, id);

async function answer(
  response: ServerResponse,
  streamFn: StreamFn,
  { model, context, options }: { model: Model; context: Context; options: object },
): Promise<void> {
  const abort = new AbortController();
  response.once("close", () => abort.abort());
  const stream = await streamFn(model, context, { ...pickOptions(options), signal: abort.signal });
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
  // The model may take a minute to begin; the client learns now that the request was accepted.
  response.flushHeaders();
  const encode = createProxyEncoder();
  for await (const event of stream) {
    for (const proxyEvent of encode(event)) {
      if (response.destroyed) return;
      if (!response.write(`data: ${JSON.stringify(proxyEvent)}\n\n`)) await waitForDrain(response);
    }
  }
  response.end();
}

/** Resolves when the client has read what was written, or has disconnected. */
const waitForDrain = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });

async function isAllowed(
  request: IncomingMessage,
  authenticate: ProxyHandlerOptions["authenticate"],
): Promise<boolean> {
  const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
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

type Body =
  | { kind: "complete"; text: string }
  | { kind: "too_large" }
  | { kind: "disconnected" }
  | { kind: "consumed" };

/** Stops reading when the body is larger than `maxBytes`. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  if (request.readableEnded) return Promise.resolve({ kind: "consumed" });
  if (request.destroyed) return Promise.resolve({ kind: "disconnected" });
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve({ kind: "too_large" });
  return new Promise((resolve) => {
    const decoder = new TextDecoder();
    let body = "";
    let size = 0;
    request.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      // Paused, not destroyed: the response with the reason has to be sent.
      if (size > maxBytes) request.pause().removeAllListeners("data");
      else body += decoder.decode(chunk, { stream: true });
      if (size > maxBytes) resolve({ kind: "too_large" });
    });
    request.once("end", () => resolve({ kind: "complete", text: body + decoder.decode() }));
    request.once("close", () => resolve({ kind: "disconnected" }));
  });
}

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

function refuse(response: ServerResponse, status: number, message: string): void {
  // The connection is closed, because the rest of the request is not read.
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ error: message }));
}
