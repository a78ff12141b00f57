/** Requests to the network, for `fetch` of an extension. The name is resolved once, and what was checked is dialled. */
import { lookup as lookUp } from "node:dns/promises";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { isPublicAddress, type Address, parseHost } from "@tau/sandbox/internal";
import type { HttpReply } from "../messages.ts";
import type { HostNetwork } from "../ports.ts";
import { type Args, type Hostcall, HostcallFault, takeRecord, takeText } from "./hostcall.ts";
import { ExtensionError } from "../../errors.ts";

export const systemNetwork: HostNetwork = {
  lookup: async (name) => (await lookUp(name, { all: true })) as Address[],
  isOpen: isPublicAddress,
};

const maxReplyBytes = 16 * 1024 * 1024;
const maxSilenceMs = 60_000;

function takeUrl(args: Args): URL {
  const { url } = takeRecord(args[0], "The request");
  const text = takeText(url, "The address");
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed?.protocol === "http:" || parsed?.protocol === "https:") return parsed;
  throw new HostcallFault("invalid_request", "The address must begin with http or https.");
}

export const httpCall: Hostcall = {
  access: (args) => [{ capability: "http", target: { kind: "host", host: takeUrl(args).hostname } }],
  isEarly: true,
  async run(args, { ports, signal, quota, spend }) {
    const url = takeUrl(args);
    spend(quota.countRequest());
    const address = await findAddress(url.hostname, ports.network);
    const { method, headers, body } = takeRecord(args[0], "The request");
    return await send(url, {
      address,
      method: takeText(method, "The method"),
      headers: takeHeaders(headers),
      body: Buffer.from(takeText(body, "The body"), "base64"),
      signal,
    });
  },
};

/** Throws for a host that is in this machine or its own network. */
export async function findAddress(hostname: string, { lookup, isOpen }: HostNetwork): Promise<Address> {
  const host = parseHost(hostname);
  if (!host) throw new HostcallFault("invalid_request", `${hostname} is not the name of a host.`);
  const addresses = host.kind === "address" ? [host] : await lookup(host.name).catch(() => []);
  const [first] = addresses;
  if (!first) throw new HostcallFault("io", `${hostname} was not found.`);
  if (!addresses.every(isOpen))
    throw new HostcallFault("denied", `${hostname} is in this machine or its own network, which needs trust.`);
  return first;
}

/** Headers that belong to the connection are ours to set, and nothing is compressed, since we pass on what we read. */
const ownHeaders = new Set(["host", "connection", "content-length", "transfer-encoding", "accept-encoding", "upgrade"]);

function takeHeaders(value: unknown): Record<string, string> {
  const pairs = Array.isArray(value) ? (value as unknown[]) : [];
  const named = pairs.flatMap((pair) => {
    const [name, text] = Array.isArray(pair) ? (pair as unknown[]) : [];
    const isKept = typeof name === "string" && typeof text === "string" && !ownHeaders.has(name.toLowerCase());
    return isKept ? [[name, text] as const] : [];
  });
  return { ...Object.fromEntries(named), "accept-encoding": "identity" };
}

interface Outgoing {
  address: Address;
  method: string;
  headers: Record<string, string>;
  body: Buffer;
  signal: AbortSignal;
}

function send(url: URL, { address, method, headers, body, signal }: Outgoing): Promise<HttpReply> {
  const lookup: LookupFunction = (_name, options, done) =>
    options.all ? done(null, [address]) : done(null, address.address, address.family);
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const length = body.length > 0 ? { "content-length": String(body.length) } : {};
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(error instanceof HostcallFault ? error : new HostcallFault("io", error.message));
    const options = { method, headers: { ...headers, ...length }, lookup, signal, agent: false, timeout: maxSilenceMs };
    let hasResponse = false;
    const outgoing = request(url, options, (response) => {
      hasResponse = true;
      const pieces: Buffer[] = [];
      let size = 0;
      response.on("data", (piece: Buffer) => {
        size += piece.length;
        if (size > maxReplyBytes) outgoing.destroy(new HostcallFault("io", "The answer is too large."));
        else pieces.push(piece);
      });
      response.on("error", fail);
      response.on("end", () => {
        const { rawHeaders, statusCode = 0, statusMessage: statusText = "" } = response;
        const pairs = rawHeaders.flatMap((name, index) =>
          index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as const] : [],
        );
        resolve({ status: statusCode, statusText, headers: pairs, body: Buffer.concat(pieces).toString("base64") });
      });
    });
    outgoing.on("timeout", () => outgoing.destroy(new HostcallFault("timeout", "The server did not answer.")));
    outgoing.on("error", fail);
    // For a tunnel or another protocol, which we do not have, there is neither a response nor an error.
    outgoing.on(
      "close",
      () => hasResponse || fail(new ExtensionError("failed", "The server did not answer with a response.")),
    );
    outgoing.end(body);
  });
}
