/** A server on loopback that plays hosts of the web, and sessions that read from it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text, type call } from "@tau/ai/testing";
import { onTestFinished } from "vitest";
import { web } from "../../src/index.ts";
import { createTestSession, type TestSessionParams } from "../kit.ts";

export type Handler = (request: IncomingMessage & { text: string }, response: ServerResponse) => void;

export interface WebServer {
  /** Without a slash at the end. */
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  /** The paths that were asked for, but robots.txt. */
  readonly seen: string[];
  readonly requests: (IncomingMessage & { text: string })[];
  readonly routes: Map<string, Handler>;
  close(): Promise<void>;
}

/** Routes are paths without a query. Others are not found. */
export async function startWebServer(routes: Readonly<Record<string, Handler>> = {}): Promise<WebServer> {
  const table = new Map(Object.entries(routes));
  const seen: string[] = [];
  const requests: WebServer["requests"] = [];
  const server = createServer((request, response) => {
    const path = request.url!.split("?")[0]!;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const read = Object.assign(request, { text: Buffer.concat(chunks).toString("utf8") });
      if (path !== "/robots.txt") {
        seen.push(request.url!);
        requests.push(read);
      }
      const handler = table.get(path);
      if (handler) handler(read, response);
      else response.writeHead(404, { "content-type": "text/plain" }).end("Not here.");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    port,
    seen,
    requests,
    routes: table,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export const reply =
  (body: string | Buffer, type = "text/html", headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    void response.writeHead(200, { "content-type": type, ...headers }).end(body);

export const redirect =
  (location: string, status = 302): Handler =>
  (_request, response) =>
    void response.writeHead(status, { location }).end();

/** Opens a session with the feature, and calls its tools one after the other with one prompt. */
export async function callWeb(
  prompt: string,
  calls: readonly ReturnType<typeof call>[],
  params: Omit<TestSessionParams, "settings"> & { settings?: object } = {},
) {
  const { defaultTools = ["+web_fetch", "+web_search"], settings = {} } = params;
  const turns = [...calls.map((each, index) => [{ ...each, id: `call-${index}` }]), [text("Done.")]];
  const opened = await createTestSession(turns, { features: [web()], ...params, settings, defaultTools });
  onTestFinished(() => opened.dispose());
  await opened.prompt(prompt);
  const results = opened.session.messages.flatMap((message) => (message.role === "toolResult" ? [message] : []));
  const texts = results.map(({ content }) => content.map((part) => (part.type === "text" ? part.text : "")).join(""));
  return { ...opened, results, texts };
}
