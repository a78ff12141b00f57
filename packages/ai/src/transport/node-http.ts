/** The transport for Node. It uses `node:http` and `node:https`, because the first `fetch` costs 30 to 50 ms. */
import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import type { Duplex, Readable } from "node:stream";
import * as tls from "node:tls";
import type { Env } from "../platform/platform.ts";
import type { HttpRequest, HttpResponse, SendOptions } from "./http.ts";
import { getProxyAuthorization, findProxy } from "./proxy.ts";
import { toServerName } from "./server-name.ts";
import type { TunnelOptions } from "./tunnel-agent.ts";

const maxRedirects = 3;

export async function send(request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
  let url = new URL(request.url);
  for (let hops = 0; ; hops++) {
    const response = await sendOnce(request, url, options);
    const { followsRedirects = true } = options;
    const target = followsRedirects ? findRedirectTarget(response, url) : undefined;
    if (!target) return toHttpResponse(response);
    response.destroy();
    if (hops >= maxRedirects) throw new Error(`The server redirected more than ${maxRedirects} times.`);
    url = target;
  }
}

/**
 * The target of a redirect that can be followed. Only 307 and 308 keep the method; other redirects are reported to the
 * caller. The host must stay the same, because the request carries a key.
 */
function findRedirectTarget(response: http.IncomingMessage, from: URL): URL | undefined {
  const { location } = response.headers;
  if ((response.statusCode !== 307 && response.statusCode !== 308) || !location) return undefined;
  if (!URL.canParse(location, from)) return undefined;
  const to = new URL(location, from);
  const isSameOrigin = to.host === from.host && to.protocol === from.protocol;
  return isSameOrigin || isUpgrade(from, to) ? to : undefined;
}

/** From HTTP to HTTPS on the same host. */
const isUpgrade = (from: URL, to: URL) =>
  from.protocol === "http:" && to.protocol === "https:" && from.hostname === to.hostname && !from.port && !to.port;

async function sendOnce(request: HttpRequest, url: URL, options: SendOptions): Promise<http.IncomingMessage> {
  const proxy = findProxy(url, options.env);
  const secure = url.protocol === "https:";
  const { lookup } = options;
  const agent = await (lookup ? openAgent : getAgent)(secure, proxy, options.env);
  return await new Promise((resolve, reject) => {
    const settings: TunnelOptions = {
      method: request.method,
      headers: {
        "accept-encoding": "identity",
        ...request.headers,
        ...(isBodyless(request) ? {} : { "content-length": String(Buffer.byteLength(request.body)) }),
      },
      ...(lookup && { lookup }),
      signal: options.signal,
      tunnelSignal: options.signal,
      agent,
    };
    const outgoing =
      proxy && !secure
        ? // For plain HTTP, the path of a proxy request is the whole URL.
          getClient(proxy).request(proxy, {
            ...settings,
            path: url.href,
            servername: toServerName(proxy.hostname),
            headers: withProxyAuth(settings.headers, proxy, url),
          })
        : getClient(url).request(url, settings);
    let isAnswered = false;
    outgoing.on("response", (response) => {
      isAnswered = true;
      resolve(response);
    });
    outgoing.on("socket", ignoreSocketErrors);
    outgoing.on("error", (error) => {
      // After the response, readers of its body get the error.
      if (isAnswered) return;
      // The server may have closed a pooled connection while it was idle, so the request is sent again.
      if (outgoing.reusedSocket && isConnectionReset(error) && !options.signal.aborted)
        resolve(sendOnce(request, url, options));
      else reject(error);
    });
    outgoing.end(request.body);
  });
}

/** Some servers refuse a length where there can be no body. */
const isBodyless = ({ method, body }: HttpRequest): boolean => body === "" && (method === "GET" || method === "HEAD");

const getClient = ({ protocol }: URL) => (protocol === "https:" ? https : http);

/** An abort after the complete response destroys the socket. Without a listener, its error would end the process. */
function ignoreSocketErrors(socket: Duplex): void {
  if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
}

const ignore = () => undefined;

const isConnectionReset = (error: NodeJS.ErrnoException) => error.code === "ECONNRESET" || error.code === "EPIPE";

const withProxyAuth = (headers: http.OutgoingHttpHeaders | readonly string[] | undefined, proxy: URL, url: URL) => ({
  ...(headers as http.OutgoingHttpHeaders),
  host: url.host,
  ...getProxyAuthorization(proxy),
});

/** Agents keep connections open; requests with the same proxy and certificates share one. */
const agents = new Map<string, Promise<http.Agent>>();

export function getAgent(secure: boolean, proxy: URL | undefined, env: Env): Promise<http.Agent> {
  const key = [secure, proxy?.href, ...listCertificateFiles(secure, proxy, env)].join(" ");
  let agent = agents.get(key);
  if (!agent) {
    agent = createAgent(secure, proxy, { env, keepAlive: true });
    agents.set(key, agent);
    // A certificate file that cannot be read now may be readable later.
    agent.catch(() => agents.delete(key));
  }
  return agent;
}

/** An agent whose connections nobody else uses. */
const openAgent = (secure: boolean, proxy: URL | undefined, env: Env): Promise<http.Agent> =>
  createAgent(secure, proxy, { env, keepAlive: false });

function listCertificateFiles(secure: boolean, proxy: URL | undefined, env: Env): string[] {
  const usesTls = secure || proxy?.protocol === "https:";
  // Node reads NODE_EXTRA_CA_CERTS itself, but ignores it if a list of certificates is passed.
  const files = usesTls && env("SSL_CERT_FILE") ? [env("SSL_CERT_FILE"), env("NODE_EXTRA_CA_CERTS")] : [];
  return files.filter((file) => file !== undefined);
}

async function createAgent(
  secure: boolean,
  proxy: URL | undefined,
  { env, keepAlive }: { env: Env; keepAlive: boolean },
): Promise<http.Agent> {
  const caFiles = listCertificateFiles(secure, proxy, env);
  const settings = keepAlive ? { keepAlive, keepAliveMsecs: 30_000, maxFreeSockets: 32 } : { keepAlive };
  const ca = caFiles.length > 0 && [...tls.rootCertificates, ...caFiles.map((file) => readFileSync(file, "utf8"))];
  const secureSettings = { ...settings, ...(ca && { ca }) };
  if (!secure && proxy?.protocol !== "https:") return new http.Agent(settings);
  if (!secure || !proxy) return new https.Agent(secureSettings);
  const { TunnelAgent } = await import("./tunnel-agent.ts");
  return new TunnelAgent(proxy, secureSettings);
}

async function toHttpResponse(response: http.IncomingMessage): Promise<HttpResponse> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  const body = await decodeBody(response, headers["content-encoding"]);
  // Readers of the body get its errors. After they stop reading, an error without a listener would end the process.
  body.on("error", ignore);
  return {
    status: response.statusCode ?? 0,
    headers,
    body: body.iterator({ destroyOnReturn: false }),
    discard: () => discard(body),
    cut: () => void body.destroy(),
  };
}

/** How long to wait for the end of a discarded response before the connection is closed. */
const discardMs = 1_000;

function discard(body: Readable): void {
  if (body.readableEnded || body.destroyed) return;
  const timer = setTimeout(() => body.destroy(), discardMs);
  timer.unref();
  body.once("close", () => clearTimeout(timer));
  body.resume();
}

/** Requests do not ask for compression, but some servers compress anyway. */
async function decodeBody(response: http.IncomingMessage, encoding: string | undefined): Promise<Readable> {
  if (!encoding || encoding === "identity") return response;
  const zlib = await import("node:zlib");
  const decoder =
    encoding === "br"
      ? zlib.createBrotliDecompress()
      : encoding === "deflate"
        ? zlib.createInflate()
        : zlib.createGunzip();
  response.once("error", (error) => decoder.destroy(error));
  decoder.once("close", () => response.destroy());
  return response.pipe(decoder);
}
