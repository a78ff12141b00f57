/** Errors of sockets, host names and certificates, as sentences. Pure. */
import type { Env } from "./platform/platform.ts";
import { findProxy, findUnusedProxy } from "./transport/proxy.ts";

/** Where a request was sent. */
export interface Target {
  /** With the port. */
  host: string;
  hostname: string;
  /** The proxy's host and port, if the request went through one. */
  proxy?: string;
  /** A proxy that is set but cannot be used, without its credentials. */
  unusedProxy?: string;
}

/** Undefined if `address` is no URL. */
export function getTarget(address: string, env: Env): Target | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const proxy = findProxy(url, env);
  const unused = findUnusedProxy(url, env);
  return {
    ...getHostAndPort(url),
    ...(proxy && { proxy: getHostAndPort(proxy).host }),
    ...(unused && { unusedProxy: `${unused.protocol}//${unused.host}` }),
  };
}

function getHostAndPort({ protocol, hostname, port }: URL): Pick<Target, "host" | "hostname"> {
  return { host: `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`, hostname };
}

interface ConnectionFailure {
  kind: "network" | "auth";
  message: string;
}

/** Undefined if `code` is not about a connection. */
export function classifyConnectionError(code: string, target: Target | undefined): ConnectionFailure | undefined {
  const { host = "the server", hostname = "of the server", proxy, unusedProxy } = target ?? {};
  const describe = descriptions.find(([pattern]) => pattern.test(code));
  if (!describe) return undefined;
  const [, kind, format] = describe;
  const peer = proxy === undefined ? host : `the proxy ${proxy}`;
  const message = format({ host, hostname, peer, proxy }).replace(" #", ` (${code})`);
  const hint = unusedProxy
    ? ` The proxy ${unusedProxy} is not used: its address must begin with http:// or https://.`
    : "";
  return { kind, message: message.charAt(0).toUpperCase() + message.slice(1) + hint };
}

interface Names {
  host: string;
  hostname: string;
  /** The peer that the socket was connected to: the proxy or the host. */
  peer: string;
  proxy: string | undefined;
}

/** `#` stands for the code. */
const descriptions: readonly (readonly [RegExp, ConnectionFailure["kind"], (names: Names) => string])[] = [
  [
    /^ECONNREFUSED$/,
    "network",
    ({ peer, proxy }) => `${peer} does not accept connections #. ${proxy ? checkProxy : "Is the server running?"}`,
  ],
  [
    /^(ENOTFOUND|EAI_AGAIN)$/,
    "network",
    ({ hostname, proxy }) =>
      proxy === undefined
        ? `The name ${hostname} could not be resolved #. Check the network connection and the base URL.`
        : `The name of the proxy ${proxy} could not be resolved #. ${checkProxy}`,
  ],
  [
    /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/,
    "network",
    ({ peer, proxy }) => `${peer} cannot be reached #. ${proxy ? checkProxy : "Check the network connection."}`,
  ],
  [
    /^(ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/,
    "network",
    ({ host, proxy }) => `The connection to ${host}${proxy ? ` through the proxy ${proxy}` : ""} was lost #.`,
  ],
  [/^HPE_/, "network", ({ peer }) => `${peer} sent an answer that is not valid HTTP #. Check the base URL.`],
  [
    /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/,
    "auth",
    ({ host }) => `${host} does not use TLS #. Check the base URL: without TLS it begins with http://.`,
  ],
  [
    /^CERT_HAS_EXPIRED$/,
    "auth",
    ({ host }) => `The certificate of ${host} has expired #. If it is renewed, check the clock of this machine.`,
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "auth",
    ({ host }) => `The certificate of ${host} is for another host #. Check the base URL.`,
  ],
  [
    /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_/,
    "auth",
    ({ host }) =>
      `The certificate of ${host} was not accepted #. If it is self-signed, or of an authority of your network, set NODE_EXTRA_CA_CERTS to the file of that certificate.`,
  ],
];

const checkProxy = "Check the proxy: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY or the setting httpProxy.";
