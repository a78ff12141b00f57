/** Whether a request came where it should and from whom it may. Pure: it sees the headers as they were sent. */
import { isLoopback } from "./address.ts";

/** Names by which the gateway can be reached. */
export interface AllowedAddresses {
  /** Values of the header `Host`, in lower case. */
  hosts: readonly string[];
  /** Values of the header `Origin`. */
  origins: readonly string[];
}

interface AddressOptions {
  /** The address that it listens on. */
  host: string;
  port: number;
  isSecure: boolean;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
}

/** Exact lists. A name that leads to this machine and is not in them may be somebody else's. */
export function listAddresses({
  host,
  port,
  isSecure,
  allowedHosts,
  allowedOrigins,
}: AddressOptions): AllowedAddresses {
  const scheme = isSecure ? "https" : "http";
  const names = isLoopback(host) ? loopbackNames : [...loopbackNames, ...toName(host)];
  const own = names.flatMap((name) => withoutDefaultPort(`${name}:${port}`, [isSecure ? "443" : "80"]));
  // Behind another server, the port that people see is that server's.
  const others = allowedHosts.flatMap((name) => withoutDefaultPort(name.toLowerCase(), ["80", "443"]));
  return {
    hosts: [...own, ...others],
    origins: [...own.map((name) => `${scheme}://${name}`), ...allowedOrigins.map((origin) => origin.toLowerCase())],
  };
}

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];

/** Nothing for addresses that stand for all: clients cannot name them. */
function toName(host: string): string[] {
  if (host === "0.0.0.0" || host === "::") return [];
  return [host.includes(":") ? `[${host.toLowerCase()}]` : host.toLowerCase()];
}

/** Clients leave out the port that a scheme has anyway. */
function withoutDefaultPort(name: string, defaults: readonly string[]): string[] {
  const port = /:(\d+)$/.exec(name)?.[1] ?? "";
  return defaults.includes(port) ? [name, name.slice(0, -port.length - 1)] : [name];
}

export interface Refusal {
  status: number;
  /** For people. */
  message: string;
  /** The origin, if that is all that is wrong. */
  origin?: string;
}

/** Longer origins are cut in messages. */
const maxOriginLength = 200;

/** Headers of which two would be read differently by different programs. */
const singleHeaders = ["host", "origin", "authorization", "content-type", "content-length", "sec-fetch-site"];

/** `rawHeaders` are names and values in turn, as Node has them: where a header came twice, its own object hides one. */
export function checkAddresses(
  rawHeaders: readonly string[],
  { hosts, origins }: AllowedAddresses,
): Refusal | undefined {
  const values = groupHeaders(rawHeaders);
  for (const name of singleHeaders) {
    if ((values.get(name)?.length ?? 0) > 1) return refuse(`The header ${name} was sent twice.`);
  }
  const [host] = values.get("host") ?? [];
  if (host === undefined || !hosts.includes(host.toLowerCase())) {
    return refuse("This gateway is not reached by that name. Its setting gateway.allowedHosts can name more.");
  }
  const [origin] = values.get("origin") ?? [];
  // Programs send none; they show a token. A page cannot leave it out where it matters.
  if (origin !== undefined && !origins.includes(origin.toLowerCase())) {
    const shown = origin.slice(0, maxOriginLength);
    const message = `Pages of the origin ${JSON.stringify(shown)} may not use this gateway. Its setting gateway.allowedOrigins can name it.`;
    return { ...refuse(message), origin: shown };
  }
  return undefined;
}

/** Checks requests that may have an effect further: browsers say which site's page has sent them. */
export function checkEffect({ "sec-fetch-site": site }: { "sec-fetch-site"?: string }): Refusal | undefined {
  if (site !== undefined && site !== "same-origin") return refuse("Requests from other sites have no effect here.");
  return undefined;
}

export const isJson = (contentType: string | undefined): boolean =>
  /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(contentType ?? "");

const refuse = (message: string): Refusal => ({ status: 403, message });

function groupHeaders(rawHeaders: readonly string[]): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    values.set(name, [...(values.get(name) ?? []), rawHeaders[index + 1]!]);
  }
  return values;
}
