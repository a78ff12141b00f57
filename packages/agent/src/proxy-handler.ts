/** The server half of `streamProxy`. */
import { type Context, getModel, type Model, streamSimple } from "@tau/ai";
import type { IncomingMessage, ServerResponse } from "node:http";
import { AgentError } from "./errors.ts";
import { createProxyEncoder, pickOptions } from "./proxy.ts";
import type { StreamFn } from "./types.ts";

export interface ProxyHandlerOptions {
  /** The bearer token that clients must send, or a function that knows the good ones. */
  authenticate: string | ((token: string) => boolean | Promise<boolean>);
  /**
   * Which model a client may use for what it asked for; undefined refuses it. Default: the catalogue. The client's own
   * description of the model is never used: its base URL would decide where the key goes.
   */
  resolveModel?: (asked: { provider: string; id: string }) => Model | undefined;
  /** Default: `streamSimple`, with keys from the environment. */
  streamFn?: StreamFn;
  /** The largest request. Default 32 MiB. */
  maxBodyBytes?: number;
  /** Hears what went wrong on our side; clients are only told that something did. */
  onError?: (error: unknown) => void;
}

/**
 * A handler for a Node HTTP server. It answers POST on whatever path it is mounted at; clients ask for `/api/stream`. A
 * client that leaves ends the request to the provider.
 */
export function createProxyHandler(
  options: ProxyHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  if (typeof options.authenticate === "string" && options.authenticate === "") {
    throw new AgentError("invalid_handler", "A proxy needs a token; an empty one would let everybody in.");
  }
  return async (request, response) => {
    try {
      await handle(request, response, options);
    } catch (error) {
      // The wall: a bug here is an answer to one client, not the end of the server.
      options.onError?.(error);
      if (!response.headersSent) refuse(response, 500, "The proxy failed.");
      else response.destroy();
    }
  };
}

async function handle(request: IncomingMessage, response: ServerResponse, options: ProxyHandlerOptions): Promise<void> {
  if (request.method !== "POST") return refuse(response, 405, "Only POST is answered here.");
  if (!(await isAllowed(request, options.authenticate))) return refuse(response, 401, "The token is missing or wrong.");
  const body = await readBody(request, options.maxBodyBytes ?? 32 * 1024 * 1024);
  if (body.kind === "left") return;
  if (body.kind === "consumed") {
    return refuse(response, 500, "The body was read before it came here: put this handler before body parsers.");
  }
  if (body.kind === "too_large") return refuse(response, 413, "The request is too large.");
  const asked = parseBody(body.text);
  if (!asked) return refuse(response, 400, "The body must be JSON with model and context.");
  const model = (options.resolveModel ?? defaultModel)(asked.model);
  if (!model) return refuse(response, 404, `There is no model ${asked.model.provider}/${asked.model.id} here.`);
  await answer(response, options.streamFn ?? streamSimple, { ...asked, model });
}

const defaultModel = ({ provider, id }: { provider: string; id: string }) => getModel(provider, id);

async function answer(
  response: ServerResponse,
  streamFn: StreamFn,
  { model, context, options }: { model: Model; context: Context; options: object },
): Promise<void> {
  const abort = new AbortController();
  response.once("close", () => abort.abort());
  const stream = await streamFn(model, context, { ...pickOptions(options), signal: abort.signal });
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
  // The first word of a model may be a minute away; that the request was taken is known now.
  response.flushHeaders();
  const encode = createProxyEncoder();
  for await (const event of stream) {
    for (const sent of encode(event)) {
      if (response.destroyed) return;
      if (!response.write(`data: ${JSON.stringify(sent)}\n\n`)) await drained(response);
    }
  }
  response.end();
}

/** Waits until the client has read what was written, or has left. */
const drained = (response: ServerResponse) =>
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
  return typeof authenticate === "string" ? await isSame(token, authenticate) : await authenticate(token);
}

/** Compares digests, so that the time it takes says nothing about how much of a guess was right. */
async function isSame(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([a, b].map(digest));
  return one !== undefined && other !== undefined && one.every((byte, at) => byte === other[at]);
}

const digest = async (text: string) =>
  new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

type Body = { kind: "whole"; text: string } | { kind: "too_large" } | { kind: "left" } | { kind: "consumed" };

/** Of one that is longer than allowed, the rest is not read. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  if (request.readableEnded) return Promise.resolve({ kind: "consumed" });
  if (request.destroyed) return Promise.resolve({ kind: "left" });
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve({ kind: "too_large" });
  return new Promise((resolve) => {
    const decoder = new TextDecoder();
    let body = "";
    let size = 0;
    request.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      // Not destroyed: the answer that says why still has to get through.
      if (size > maxBytes) request.pause().removeAllListeners("data");
      else body += decoder.decode(chunk, { stream: true });
      if (size > maxBytes) resolve({ kind: "too_large" });
    });
    request.once("end", () => resolve({ kind: "whole", text: body + decoder.decode() }));
    request.once("close", () => resolve({ kind: "left" }));
  });
}

interface Asked {
  model: { provider: string; id: string };
  context: Context;
  options: object;
}

function parseBody(body: string): Asked | undefined {
  try {
    const { model, context, options } = JSON.parse(body) as Partial<Asked>;
    const isModel = typeof model?.provider === "string" && typeof model.id === "string";
    if (!isModel || !Array.isArray(context?.messages)) return undefined;
    return { model: { provider: model.provider, id: model.id }, context, options: options ?? {} };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  // The connection is not kept: what is left of the request is not read.
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ error: message }));
}
