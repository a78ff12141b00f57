/**
 * The proxy through which commands in the sandbox reach the network: HTTP and CONNECT, to the hosts that are allowed. It runs
 * with an empty list too, because what it refuses is how we know what a command wanted.
 */
import { lookup as nodeLookup } from "node:dns/promises";
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from "node:http";
import { connect, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { admitTarget, type Address, type Admitted, type Lookup, type Refusal, type Refused } from "./admit.ts";
import { formatTarget, parseTarget, type ProxyTarget } from "./host.ts";
import { createHostRules } from "./rules.ts";
import { type GetUpstream, openTunnel, requestThrough } from "./upstream.ts";

interface ProxyOptions {
  /** Hosts as in the setting `sandbox.network`. Read for each request. */
  getAllowed: () => readonly string[];
  /** Called with each host that a command wanted and did not get. */
  onRefused: (refusal: Refusal) => void;
  /** All addresses of a name. Default: the system's resolver. */
  lookup?: Lookup;
  /** The user's own proxy for a target. Default: none. */
  getUpstream?: GetUpstream;
  /** How long connecting to a host may take. Default 30,000. */
  connectMs?: number;
}

interface Proxy {
  /** Serves a connection from inside the sandbox. */
  serve(socket: Duplex): void;
  /** Ends all connections. */
  close(): void;
}

const maxHeaderBytes = 64 * 1024;
/** How long one address of several may take before the next is tried. */
const attemptMs = 1_000;

const lookupAll = async (name: string): Promise<Address[]> =>
  (await nodeLookup(name, { all: true, verbatim: true })) as Address[];

export function createProxy(options: ProxyOptions): Proxy {
  const { getAllowed, onRefused, lookup = lookupAll, getUpstream = () => undefined, connectMs = 30_000 } = options;
  const sockets = new Set<Duplex>();
  const keep = <T extends Duplex>(socket: T): T => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // An end that breaks a connection is the business of the one that waits for it.
    socket.on("error", () => socket.destroy());
    return socket;
  };
  const admit = async (text: string, scheme: "http" | "https"): Promise<Admitted | Refused> => {
    const target = parseTarget(text, scheme === "http" ? 80 : undefined);
    const upstream = target && getUpstream(target, scheme);
    const outcome = await admitTarget(target, createHostRules(getAllowed()), { lookup, upstream });
    if (outcome.kind === "refused")
      onRefused({ target: target ? formatTarget(target) : text.slice(0, 300), kind: outcome.why });
    return outcome;
  };

  const server = createServer({ maxHeaderSize: maxHeaderBytes, requestTimeout: 0 }, (request, response) => {
    void forward(request, response).catch(() => response.destroy());
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    void tunnel(request.url ?? "", keep(socket), head).catch(() => socket.destroy());
  });

  async function tunnel(text: string, socket: Duplex, head: Buffer): Promise<void> {
    const admitted = await admit(text, "https");
    if (admitted.kind === "refused") return void socket.end(`HTTP/1.1 403 Forbidden\r\n\r\n${explain(text, admitted)}`);
    const upstream = await dial(admitted, connectMs).catch(() => undefined);
    if (!upstream) return void socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    if (socket.destroyed) return void upstream.destroy();
    keep(upstream);
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    upstream.write(head);
    upstream.pipe(socket).pipe(upstream);
    closeAfter(upstream, socket);
    closeAfter(socket, upstream);
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const match = /^http:\/\/([^/?#]*)(.*)$/i.exec(request.url ?? "");
    const admitted = match
      ? await admit(match[1]!, "http")
      : ({ kind: "refused", why: "not_a_host" } satisfies Refused);
    if (admitted.kind === "refused") {
      response.writeHead(403, { "content-type": "text/plain" }).end(explain(match?.[1] ?? "", admitted));
      return;
    }
    const { target, way } = admitted;
    const path = match![2]!.startsWith("/") ? match![2]! : `/${match![2]!}`;
    // Without it, a body of unknown length would follow a GET or DELETE as if it were the next request.
    const framing = request.headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
    const headers = { ...withoutHopByHop(request.headers), ...framing, host: match![1]! };
    const outgoing = { method: request.method ?? "GET", headers, timeout: connectMs };
    const upstream =
      way instanceof URL
        ? requestThrough(way, { ...outgoing, url: `http://${formatTarget(target)}${path}` })
        : httpRequest({ ...outgoing, ...getDialOptions(target, way), path, agent: false });

    limitConnecting(upstream);
    upstream.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, withoutHopByHop(answer.headers));
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    });
    upstream.once("error", () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.once("close", () => upstream.destroy());
    request.pipe(upstream);
  }

  return {
    serve: (socket) => void server.emit("connection", keep(socket as Socket)),
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Connects to what was admitted: to the address that was checked, or by the name that was checked through a proxy. */
function dial({ target, way }: Admitted, connectMs: number): Promise<Duplex> {
  if (way instanceof URL) return openTunnel(way, target, connectMs);
  const socket = connect(getDialOptions(target, way));
  return new Promise((resolve, reject) => {
    socket.setTimeout(connectMs, () => socket.destroy(new Error("The host did not answer.")));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.setTimeout(0);
      resolve(socket);
    });
  });
}

/** Many hosts have several addresses, of which some cannot be reached from here. */
const getDialOptions = ({ host, port }: ProxyTarget, addresses: readonly Address[]) => ({
  host: host.kind === "name" ? host.name : host.address,
  port,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: attemptMs,
  // The addresses were checked: the name must not be resolved again.
  lookup: ((_name, _options, callback) => callback(null, [...addresses])) satisfies LookupFunction,
});

/** Destroys `other` when `closed` is closed, but only after what `closed` has sent. */
function closeAfter(closed: Duplex, other: Duplex): void {
  closed.once("close", () => {
    if (closed.readableEnded) other.end(() => other.destroy());
    else other.destroy();
  });
}

/** Ends a request whose connection is not made within its timeout. The answer may take any time. */
function limitConnecting(request: ClientRequest): void {
  request.once("timeout", () => request.destroy(new Error("The host did not answer.")));
  request.once("socket", (socket) => {
    const onConnect = () => void request.setTimeout(0);
    if (socket.connecting) socket.once("connect", onConnect);
    else onConnect();
  });
}

const reasons: Record<Refusal["kind"], string> = {
  not_allowed: "is not in the setting sandbox.network, so the sandbox does not connect to it",
  not_a_host: "is not a host name or an address in its usual notation",
  private_address: "leads to an address of a private network, of this machine or of a cloud's metadata",
  unknown_host: "has no address",
};

const explain = (text: string, { why }: Refused): string =>
  `tau: ${JSON.stringify(text.slice(0, 300))} ${reasons[why]}.\n`;

const hopByHop = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

const withoutHopByHop = (headers: IncomingMessage["headers"]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.test(name)));
