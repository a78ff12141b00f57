/** The transport under Node, on `node:http` and `node:https`: `fetch` would cost 30 to 50 ms at the first request. */
import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import type { Duplex, Readable } from "node:stream";
import * as tls from "node:tls";
import type { Env } from "../platform/platform.ts";
import type { HttpRequest, HttpResponse, SendOptions } from "./http.ts";
import { proxyAuthorization, proxyFor } from "./proxy.ts";
import type { TunnelOptions } from "./tunnel-agent.ts";

const maxRedirects = 3;

export async function send(request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
  let url = new URL(request.url);
  for (let hops = 0; ; hops++) {
    const response = await sendOnce(request, url, options);
    const target = redirectTarget(response, url);
    if (!target) return toHttpResponse(response);
    response.destroy();
    if (hops >= maxRedirects) throw new Error(`The server redirected more than ${maxRedirects} times.`);
    url = target;
  }
}

/**
 * Where to go instead, if anywhere. Only 307 and 308 keep a POST a POST; other redirects are left to be reported.
 * The host must stay the same, since the request carries a key.
 */
function redirectTarget(response: http.IncomingMessage, from: URL): URL | undefined {
  const { location } = response.headers;
  if ((response.statusCode !== 307 && response.statusCode !== 308) || !location) return undefined;
  if (!URL.canParse(location, from)) return undefined;
  const to = new URL(location, from);
  const staysHome = to.host === from.host && to.protocol === from.protocol;
  return staysHome || isUpgrade(from, to) ? to : undefined;
}

const isUpgrade = (from: URL, to: URL) =>
  from.protocol === "http:" && to.protocol === "https:" && from.hostname === to.hostname && !from.port && !to.port;

async function sendOnce(request: HttpRequest, url: URL, options: SendOptions): Promise<http.IncomingMessage> {
  const proxy = proxyFor(url, options.env);
  const secure = url.protocol === "https:";
  const agent = await agentFor(secure, proxy, options.env);
  return await new Promise((resolve, reject) => {
    const settings: TunnelOptions = {
      method: request.method,
      headers: {
        "accept-encoding": "identity",
        ...request.headers,
        "content-length": String(Buffer.byteLength(request.body)),
      },
      signal: options.signal,
      tunnelSignal: options.signal,
      agent,
    };
    const outgoing =
      proxy && !secure
        ? // A proxy for plain HTTP takes the whole URL as the path.
          http.request(proxy, { ...settings, path: url.href, headers: withProxyAuth(settings.headers, proxy, url) })
        : (secure ? https : http).request(url, settings);
    outgoing.on("response", resolve);
    outgoing.on("socket", hearErrors);
    outgoing.on("error", (error) => {
      // A pooled connection may have been closed by the server meanwhile: that says nothing about the request.
      if (outgoing.reusedSocket && isReset(error) && !options.signal.aborted) resolve(sendOnce(request, url, options));
      else reject(error);
    });
    outgoing.end(request.body);
  });
}

/** An abort after the whole answer has come destroys a socket that nobody listens to: that would end the process. */
function hearErrors(socket: Duplex): void {
  if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
}

const ignore = () => undefined;

const isReset = (error: NodeJS.ErrnoException) => error.code === "ECONNRESET" || error.code === "EPIPE";

const withProxyAuth = (headers: http.OutgoingHttpHeaders | readonly string[] | undefined, proxy: URL, url: URL) => ({
  ...(headers as http.OutgoingHttpHeaders),
  host: url.host,
  ...proxyAuthorization(proxy),
});

/** Connections are kept and shared by everyone with the same route and certificates. */
const agents = new Map<string, Promise<http.Agent>>();

function agentFor(secure: boolean, proxy: URL | undefined, env: Env): Promise<http.Agent> {
  // Node reads NODE_EXTRA_CA_CERTS itself, but only where no other list is given.
  const caFiles = secure && env("SSL_CERT_FILE") ? [env("SSL_CERT_FILE"), env("NODE_EXTRA_CA_CERTS")] : [];
  const key = [secure, proxy?.href, ...caFiles].join(" ");
  let agent = agents.get(key);
  if (!agent) {
    agent = createAgent(
      secure,
      proxy,
      caFiles.filter((file) => file !== undefined),
    );
    agents.set(key, agent);
    // A list of certificates that cannot be read may be there the next time.
    agent.catch(() => agents.delete(key));
  }
  return agent;
}

async function createAgent(secure: boolean, proxy: URL | undefined, caFiles: string[]): Promise<http.Agent> {
  const settings = { keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 32 };
  if (!secure) return new http.Agent(settings);
  const ca = caFiles.length > 0 && [...tls.rootCertificates, ...caFiles.map((file) => readFileSync(file, "utf8"))];
  const secured = { ...settings, ...(ca && { ca }) };
  if (!proxy) return new https.Agent(secured);
  const { TunnelAgent } = await import("./tunnel-agent.ts");
  return new TunnelAgent(proxy, secured);
}

async function toHttpResponse(response: http.IncomingMessage): Promise<HttpResponse> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  const body = await decoded(response, headers["content-encoding"]);
  // Who reads the body hears of its errors. When nobody does any more, an error without a listener ends the process.
  body.on("error", ignore);
  return {
    status: response.statusCode ?? 0,
    headers,
    body: body.iterator({ destroyOnReturn: false }),
    discard: () => discard(body),
    cut: () => void body.destroy(),
  };
}

/** How long the end of a response that nobody reads any more is waited for. */
const discardMs = 1_000;

function discard(body: Readable): void {
  if (body.readableEnded || body.destroyed) return;
  const timer = setTimeout(() => body.destroy(), discardMs);
  timer.unref();
  body.once("close", () => clearTimeout(timer));
  body.resume();
}

/** We ask for no compression; a server that compresses all the same is still understood. */
async function decoded(response: http.IncomingMessage, encoding: string | undefined): Promise<Readable> {
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
