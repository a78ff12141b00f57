import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { KnownApi } from "../model.ts";
import type { WireDialect } from "./dialects/dialect.ts";
import { wireDialects } from "./dialects/index.ts";
import { type ScriptedAnswer, withUniqueIds } from "./script.ts";

/** The reply to one request. */
export type WireReply =
  | { kind: "answer"; answer: ScriptedAnswer }
  /** Sends the first `frames` frames of the answer, then closes the connection. */
  | { kind: "cut"; answer: ScriptedAnswer; frames: number }
  | { kind: "status"; status: number; headers?: Record<string, string>; body?: string }
  /** Sends the chunks; then ends the response, closes the connection, or leaves it open. */
  | { kind: "raw"; chunks: (string | Uint8Array)[]; ending: "end" | "cut" | "hang"; contentType?: string };

export interface RecordedRequest {
  method: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  /** Parsed JSON. */
  body: unknown;
}

export interface WireServer {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  url: string;
  requests: RecordedRequest[];
  /** The number of connections opened so far. */
  readonly connections: number;
  /** Resolves when a client closes the connection before the response is complete. */
  clientLeft(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on loopback that sends the next reply for each request, in the dialect of an API. */
export async function startWireServer(api: KnownApi | WireDialect, replies: readonly WireReply[]): Promise<WireServer> {
  const dialect = typeof api === "string" ? wireDialects[api] : api;
  const queue = [...replies];
  const requests: RecordedRequest[] = [];
  let onClientLeft = () => {};
  const clientLeft = new Promise<void>((resolve) => {
    onClientLeft = resolve;
  });
  const answerRequest = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const recorded: RecordedRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      body: body === "" ? undefined : JSON.parse(body),
    };
    requests.push(recorded);
    const reply = queue.shift() ?? { kind: "status", status: 500, body: "The script has no more replies." };
    respond(dialect, reply, response, requests.length, readModelId(recorded));
  };
  const server = createServer((request, response) => {
    response.once("close", () => {
      if (!response.writableFinished) onClientLeft();
    });
    void answerRequest(request, response);
  });
  let connections = 0;
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get connections() {
      return connections;
    },
    clientLeft: () => clientLeft,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function respond(dialect: WireDialect, reply: WireReply, response: ServerResponse, count: number, model: string): void {
  if (reply.kind === "status") {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(reply.body ?? dialect.errorBody(reply.status, `status ${reply.status}`));
    return;
  }
  const chunks =
    reply.kind === "raw"
      ? reply.chunks
      : dialect.answer({ id: `answer-${count}`, model, ...reply.answer, content: withUniqueIds(reply.answer.content) });
  const ending = reply.kind === "raw" ? reply.ending : reply.kind === "cut" ? "cut" : "end";
  const contentType = reply.kind === "raw" ? reply.contentType : undefined;
  response.writeHead(200, { "content-type": contentType ?? dialect.contentType });
  for (const chunk of reply.kind === "cut" ? chunks.slice(0, reply.frames) : chunks) response.write(chunk);
  if (ending === "end") response.end();
  else if (ending === "cut") flushThenCut(response);
}

/** Closes the connection after the written data has been sent, so that the client receives it. */
function flushThenCut(response: ServerResponse): void {
  response.write("", () => setTimeout(() => response.destroy(), 20));
}

/** The requested model, from the body or the path. */
function readModelId(request: RecordedRequest): string {
  const model = (request.body as { model?: unknown } | undefined)?.model;
  if (typeof model === "string") return model;
  return decodeURIComponent(/\/(?:models?|deployments)\/([^/:?]+)/.exec(request.path)?.[1] ?? "unknown");
}
