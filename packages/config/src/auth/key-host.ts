/** The hosts to which a provider's key may be sent. */
import { getModels } from "@tau/ai";
import { getProviderInfo, toProviderId, withoutUserinfo } from "@tau/ai/internal";

const thisMachine = ["localhost:*", "127.0.0.1:*", "[::1]:*"];

/** Providers with more hosts than their models have. `*` matches letters, digits and dashes, but no dot. */
const table = new Map<string, readonly string[]>([
  ["amazon-bedrock", ["bedrock-runtime.*.amazonaws.com", "bedrock-runtime-fips.*.amazonaws.com"]],
  ["azure", ["*.openai.azure.com", "*.cognitiveservices.azure.com", "*.services.ai.azure.com"]],
  ["github-copilot", ["api.*.githubcopilot.com"]],
  ["google-vertex", ["aiplatform.googleapis.com", "*-aiplatform.googleapis.com", "aiplatform.*.rep.googleapis.com"]],
  ["llamacpp", thisMachine],
  ["lmstudio", thisMachine],
  ["ollama", thisMachine],
  ["vllm", thisMachine],
]);

/** The hosts of a provider: those of its models, also of registered ones, and those in the table. */
export function providerHosts(provider: string, env: (name: string) => string | undefined): string[] {
  const hosts = new Set(table.get(toProviderId(provider)));
  const azure = getProviderInfo(provider)?.usesDeployments ? env("AZURE_OPENAI_BASE_URL") : undefined;
  // Hundreds of models share a few addresses.
  for (const url of new Set([...getModels(provider).map(({ baseUrl }) => baseUrl), azure])) {
    const host = url && getHost(url.replace(/\{\w+\}/g, "*"));
    if (host) hosts.add(host);
  }
  return [...hosts];
}

/**
 * The host of a URL or a bare host, normalised: in lower case, with the port if it is not the default. Without encryption
 * it begins with `http://`, unless it is this machine, so that it is another host. Undefined if there is no host.
 */
export function getHost(address: string): string | undefined {
  const source = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`;
  if (!URL.canParse(source)) return undefined;
  const url = new URL(source);
  const isUnencrypted = url.protocol === "http:" || url.protocol === "ws:";
  if (!isUnencrypted && url.protocol !== "https:" && url.protocol !== "wss:") return undefined;
  // A user before an @ can be taken for the host.
  if (url.host === "" || url.username !== "" || url.password !== "") return undefined;
  return isUnencrypted && !isLoopback(url.hostname) ? `http://${url.host}` : url.host;
}

export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || /^(127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

const isMatch = (pattern: string, host: string) =>
  new RegExp(`^${pattern.split("*").map(escape).join("[a-z0-9-]+")}$`).test(host);

const escape = (text: string) => text.replace(/[\\^$.|?+()[\]{}/]/g, String.raw`\$&`);

/** Why a key may not be sent to an address. Undefined if it may. */
export function refuseHost(provider: string, address: string, allowed: readonly string[]): string | undefined {
  const host = getHost(address);
  if (host === undefined) return describeNoHost(address);
  if (allowed.some((pattern) => isMatch(pattern, host))) return undefined;
  const fix = `If you mean ${host}, write the key into models.json, as "apiKey" beside "baseUrl", or add "host": ${JSON.stringify(host)} to it in auth.json.`;
  if (allowed.length === 0)
    return `The host for the key of ${provider} is not known, so it is not sent to ${host}. ${fix}`;
  return `The key of ${provider} is for ${allowed.join(", ")} and is not sent to ${host}. ${fix}`;
}

function describeNoHost(address: string): string {
  const shown = withoutUserinfo(address);
  if (shown === address) return `No key is sent to ${JSON.stringify(address)}, which is not a host.`;
  return `No key is sent to an address with a user name or a password. Remove them from the address of ${shown}.`;
}

/** Normalises hosts that a user wrote, and drops texts that are no hosts. */
export const parseHosts = (written: readonly string[]): string[] =>
  written.flatMap((address) => getHost(address) ?? []);
