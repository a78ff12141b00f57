/** Tells servers on this machine and in its network from others, by their base URL. Pure. */

/** The default ports of Ollama and LM Studio, which identify them on any host. */
const localPorts: readonly string[] = ["11434", "1234"];

/** Whether a base URL is that of a server on this machine or in the local network, or of Ollama or LM Studio anywhere. */
export function isLocalServer(baseUrl: string): boolean {
  const url = parseBaseUrl(baseUrl);
  return url !== undefined && (localPorts.includes(url.port) || isLocal(url.hostname));
}

/** Undefined for what is no URL. */
export function parseBaseUrl(baseUrl: string): URL | undefined {
  // Placeholders are filled in later, when a request is made; here they must not match any row.
  const parseable = baseUrl.replace(/\{[^}]*\}/g, "placeholder.invalid");
  return URL.canParse(parseable) ? new URL(parseable) : undefined;
}

/** Whether a host is this machine or in the local network. */
const isLocal = (hostname: string) =>
  !/[.:]/.test(hostname) ||
  /\.(localhost|local|lan|internal|home\.arpa)$/.test(hostname) ||
  /^(127|10)\.\d+\.\d+\.\d+$|^192\.168\.\d+\.\d+$|^172\.(1[6-9]|2\d|3[01])\.\d+\.\d+$|^0\.0\.0\.0$/.test(hostname) ||
  /^\[(::1|f[cd][0-9a-f]{2}:.*|fe80:.*)\]$/.test(hostname);
