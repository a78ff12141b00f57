/** Which hosts a provider's key may be sent to. A key that is asked for elsewhere is not given. */
import { getModels, withoutUserinfo } from "@tau/ai";

const thisMachine = ["localhost:*", "127.0.0.1:*", "[::1]:*"];

/** Providers with more hosts than their models name. `*` stands for letters, digits and dashes, never for a dot. */
const table = new Map<string, readonly string[]>([
  ["amazon-bedrock", ["bedrock-runtime.*.amazonaws.com", "bedrock-runtime-fips.*.amazonaws.com"]],
  ["azure-openai-responses", ["*.openai.azure.com", "*.cognitiveservices.azure.com", "*.services.ai.azure.com"]],
  ["github-copilot", ["api.*.githubcopilot.com"]],
  ["google-vertex", ["aiplatform.googleapis.com", "*-aiplatform.googleapis.com", "aiplatform.*.rep.googleapis.com"]],
  ["llamacpp", thisMachine],
  ["lmstudio", thisMachine],
  ["ollama", thisMachine],
  ["vllm", thisMachine],
]);

/** The hosts of a provider: those of its models in the catalogue and registered ones, and what the table adds. */
export function providerHosts(provider: string, env: (name: string) => string | undefined): string[] {
  const hosts = new Set(table.get(provider));
  const azure = provider === "azure-openai-responses" ? env("AZURE_OPENAI_BASE_URL") : undefined;
  // Hundreds of models may share a few addresses.
  for (const url of new Set([...getModels(provider).map(({ baseUrl }) => baseUrl), azure])) {
    const host = url && getHost(url.replace(/\{\w+\}/g, "*"));
    if (host) hosts.add(host);
  }
  return [...hosts];
}

/**
 * The host in a URL or a bare host, as it is compared: lower case, with the port where it is not the usual one. One
 * that is spoken to without encryption is another host, unless it is this machine. Undefined for what is no host.
 */
export function getHost(place: string): string | undefined {
  const source = /^[a-z][a-z0-9+.-]*:\/\//i.test(place) ? place : `https://${place}`;
  if (!URL.canParse(source)) return undefined;
  const url = new URL(source);
  const isPlain = url.protocol === "http:" || url.protocol === "ws:";
  if (!isPlain && url.protocol !== "https:" && url.protocol !== "wss:") return undefined;
  // What stands before an @ looks like a host to people.
  if (url.host === "" || url.username !== "" || url.password !== "") return undefined;
  return isPlain && !isLoopback(url.hostname) ? `http://${url.host}` : url.host;
}

export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || /^(127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

const matches = (pattern: string, host: string) =>
  new RegExp(`^${pattern.split("*").map(escaped).join("[a-z0-9-]+")}$`).test(host);

const escaped = (text: string) => text.replace(/[\\^$.|?+()[\]{}/]/g, String.raw`\$&`);

/** Undefined when the key may go there. */
export function refuseHost(provider: string, place: string, allowed: readonly string[]): string | undefined {
  const host = getHost(place);
  if (host === undefined) return noHost(place);
  if (allowed.some((pattern) => matches(pattern, host))) return undefined;
  const fix = `If you mean ${host}, store a key for it with "host": ${JSON.stringify(host)}.`;
  if (allowed.length === 0) return `It is not known which host the key of ${provider} was given for. ${fix}`;
  return `The key of ${provider} was given for ${allowed.join(", ")} and is not sent to ${host}. ${fix}`;
}

function noHost(place: string): string {
  const shown = withoutUserinfo(place);
  if (shown === place) return `${JSON.stringify(place)} is no host that a key could be sent to.`;
  return `No key is sent to an address with a user or a password in it. Take them out of that of ${shown}.`;
}

/** Hosts as a person wrote them; what is no host allows nothing. */
export const ownHosts = (written: readonly string[]): string[] =>
  written.flatMap((place) => {
    const host = getHost(place);
    return host === undefined ? [] : [host];
  });
