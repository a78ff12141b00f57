/** The server half of `streamProxy`, for servers of Node and for those that take a `Request`. */
import { followSignal } from "@tau/ai/internal";
import { AgentError } from "./errors.ts";
import type { NodeRequest, NodeResponse } from "./node-http.ts";
import { answerProxy, type ProxyAnswer, type ProxyBody, type ProxyHandlerOptions, refuse } from "./proxy-exchange.ts";

/** Takes what the server has: a request and a response of Node, or a `Request`, which gives a `Response`. */
export interface ProxyHandler {
  (request: NodeRequest, response: NodeResponse): Promise<void>;
  (request: Request): Promise<Response>;
}

/**
 * Creates a handler for a Node HTTP server, or for a server that answers a `Request` with a `Response`. It answers POST requests on
 * any path; clients send them to `/api/stream`. If a client disconnects, the request to the provider is aborted.
 */
export function createProxyHandler(options: ProxyHandlerOptions): ProxyHandler {
  if (typeof options.authenticate === "string" && options.authenticate === "") {
    throw new AgentError(
      "invalid_handler",
      "The proxy has an empty token. Set one, so that not every client is accepted.",
    );
  }
  function handle(request: NodeRequest, response: NodeResponse): Promise<void>;
  function handle(request: Request): Promise<Response>;
  async function handle(request: NodeRequest | Request, response?: NodeResponse): Promise<void | Response> {
    return response
      ? await handleForNode(request as NodeRequest, response, options)
      : await handleRequest(request as Request, options);
  }
  return handle;
}

const failed = refuse(500, "The proxy failed.");

async function handleForNode(
  request: NodeRequest,
  response: NodeResponse,
  options: ProxyHandlerOptions,
): Promise<void> {
  const abort = new AbortController();
  response.once("close", () => abort.abort());
  try {
    const answer = await answerProxy(
      {
        method: request.method ?? "",
        getHeader: (name) => request.headers[name],
        readBody: (maxBytes) => readBody(request, maxBytes),
        signal: abort.signal,
      },
      options,
    );
    await send(response, answer);
  } catch (error) {
    // A defect here ends the request of one client, not the server.
    options.onError?.(error);
    if (response.headersSent) response.destroy();
    else await send(response, failed);
  }
}

async function send(response: NodeResponse, answer: ProxyAnswer): Promise<void> {
  switch (answer.kind) {
    case "disconnected":
      return;
    case "whole":
      // The connection is closed, because the rest of the request is not read.
      response.writeHead(answer.status, { ...answer.headers, connection: "close" });
      response.end(answer.body);
      return;
    case "stream":
      response.writeHead(200, answer.headers);
      // The model may take a minute to begin; the client learns now that the request was accepted.
      response.flushHeaders();
      for await (const event of answer.events) {
        if (response.destroyed) return;
        if (!response.write(event)) await waitForDrain(response);
      }
      response.end();
      return;
    default:
      answer satisfies never;
  }
}

/** Resolves when the client has read what was written, or has disconnected. */
const waitForDrain = (response: NodeResponse) =>
  new Promise<void>((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });

function readBody(request: NodeRequest, maxBytes: number): Promise<ProxyBody> {
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

async function handleRequest(request: Request, options: ProxyHandlerOptions): Promise<Response> {
  const abort = new AbortController();
  const stop = followSignal(request.signal, (reason) => abort.abort(reason));
  try {
    const answer = await answerProxy(
      {
        method: request.method,
        getHeader: (name) => request.headers.get(name) ?? undefined,
        readBody: (maxBytes) => readWebBody(request, maxBytes),
        signal: abort.signal,
      },
      options,
    );
    if (answer.kind === "stream")
      return new Response(toBytes(answer.events, { abort, stop, onError: options.onError }), {
        headers: answer.headers,
      });
    stop();
    // Nobody reads what a client that is gone is answered with.
    const { status, headers, body } = answer.kind === "whole" ? answer : failed;
    return new Response(body ?? null, { status, headers });
  } catch (error) {
    stop();
    options.onError?.(error);
    return new Response(failed.body ?? null, failed);
  }
}

interface StreamEnd {
  abort: AbortController;
  stop: () => void;
  onError: ProxyHandlerOptions["onError"];
}

/** The client decides how fast it reads. One that disconnects ends the request to the provider. */
function toBytes(
  events: AsyncGenerator<string, void>,
  { abort, stop, onError }: StreamEnd,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await events.next();
        if (!done) return controller.enqueue(encoder.encode(value));
        controller.close();
      } catch (error) {
        onError?.(error);
        controller.error(error);
      }
      stop();
    },
    async cancel(reason) {
      stop();
      abort.abort(reason);
      await events.return();
    },
  });
}

async function readWebBody(request: Request, maxBytes: number): Promise<ProxyBody> {
  if (request.bodyUsed) return { kind: "consumed" };
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return { kind: "too_large" };
  const decoder = new TextDecoder();
  let body = "";
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      // Leaving the loop cancels the body.
      if (size > maxBytes) return { kind: "too_large" };
      body += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    if (request.signal.aborted) return { kind: "disconnected" };
    throw error;
  }
  return { kind: "complete", text: body + decoder.decode() };
}
