/**
 * A server with a page: the page is React, and its session runs here. Run it with `npx tsx server.ts`, and open the address that it
 * prints.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SettingsManager } from "@tau/config/settings";
import { type Gateway, startGateway } from "@tau/gateway";
import { createHost } from "@tau/harness/host";
import type { AgentSessionParams } from "@tau/harness";
import { GatewayClient } from "@tau/protocol/client";
import { build } from "esbuild";

export interface PageServerOptions {
  /** Where keys, devices and sessions are kept. */
  agentDir: string;
  /** Where the agent works. */
  cwd: string;
  /** Further parameters of each session, such as its model. */
  params?: Partial<AgentSessionParams>;
  port?: number;
}

export interface PageServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startPageServer({
  agentDir,
  cwd,
  params = {},
  port = 0,
}: PageServerOptions): Promise<PageServer> {
  let answer = (_request: IncomingMessage, response: ServerResponse) => void response.writeHead(503).end();
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [gateway, script] = await Promise.all([startSessions({ agentDir, cwd, params, origin: url }), bundlePage()]);
  // The server's own connection begins sessions.
  const client = new GatewayClient({
    url: gateway.url,
    deviceId: "local",
    key: gateway.parts.devices.getOwnToken()!,
  });
  await client.connect();
  answer = (request, response) => {
    const page: Record<string, () => Promise<[type: string, body: string]>> = {
      "GET /": async () => ["text/html", html],
      "GET /page.js": async () => ["text/javascript", script],
      "POST /api/session": async () => ["application/json", JSON.stringify(await beginSession(gateway, client, cwd))],
    };
    const give = page[`${request.method} ${request.url}`];
    if (!give) return void response.writeHead(404).end();
    give().then(
      ([type, body]) => response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(body),
      () => response.writeHead(500).end(),
    );
  };
  return {
    url,
    async close() {
      client.close();
      await gateway.stop();
      await closeServer(server);
    },
  };
}

/** Sessions of one user. They can read each other, so that another user gets a gateway of their own. */
async function startSessions({
  agentDir,
  cwd,
  params,
  origin,
}: Required<Omit<PageServerOptions, "port">> & { origin: string }): Promise<Gateway> {
  const settings = SettingsManager.inMemory({ gateway: { port: 0, allowedOrigins: [origin] } });
  return await startGateway({
    agentDir,
    settings,
    startDirectory: cwd,
    openDirectory: async (directory, own) =>
      createHost({ agentDir, params: { cwd: directory, agentDir, settingsManager: settings, ...own, ...params } }),
    version: "1.0.0",
    log: (line) => void process.stderr.write(`${line}\n`),
  });
}

/** Begins a session, and returns how the page follows it. Check here who asks: the token lets its owner write to the session. */
async function beginSession(gateway: Gateway, client: GatewayClient, cwd: string) {
  const { id, token } = await gateway.parts.devices.add({ name: "Page", scopes: ["read", "write", "approve"] });
  const { sessionId } = await client.call("sessions.create", { cwd });
  return { url: gateway.url, deviceId: id, token, sessionId };
}

async function bundlePage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "page.tsx")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    jsx: "automatic",
    minify: true,
    // The sources of tau, where there are any; a program of its own leaves this out.
    conditions: ["@tau/source"],
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles[0]!.text;
}

const html = `<!doctype html>
<meta charset="utf-8">
<title>An agent</title>
<link rel="icon" href="data:,">
<div id="root"></div>
<script type="module" src="/page.js"></script>
`;

const closeServer = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

if (process.argv[1] === import.meta.filename) {
  const { url } = await startPageServer({
    agentDir: join(process.cwd(), ".agent"),
    cwd: process.cwd(),
    port: Number(process.env["PORT"] ?? 3000),
  });
  process.stdout.write(`${url}\n`);
}
