/** Credentials that the machine itself hands out: to a container, or to an instance by the metadata service (version 2). */
import type { Env } from "../../platform/platform.ts";
import { MissingCredentials } from "../../protocols/protocol.ts";
import { type Answer, ask, askForJson, isThisMachine, readTemporary, type Temporary } from "./ask.ts";
import { readNamed } from "./profiles.ts";

const containerHost = "http://169.254.170.2";
/** Hosts that may be asked without encryption besides this machine: they answer only on it. */
const containerHosts = /^(169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;

export async function loadFromContainer(env: Env): Promise<Temporary | undefined> {
  const relative = env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const address = relative ? containerHost + relative : env("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!address) return undefined;
  if (!URL.canParse(address)) throw new MissingCredentials(`${address} is not an address to get AWS credentials from.`);
  const url = new URL(address);
  const isLocal = isThisMachine(url.hostname) || containerHosts.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) {
    throw new MissingCredentials(`AWS credentials are not asked for at ${url.host}: use HTTPS or a local address.`);
  }
  const tokenFile = env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  const token = tokenFile ? await readNamed(tokenFile) : env("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const headers = { accept: "application/json", ...(token && { authorization: token }) };
  const request = { method: "GET", url: url.href, headers, body: "" };
  return readTemporary(await askForJson(request, isLocal ? {} : { env }), "Token");
}

/** Where there is no such service, nothing answers at its address, or something else does: that must not take long. */
const metadataTimeoutMs = 1_000;

const rolesPath = "/latest/meta-data/iam/security-credentials/";

/** Undefined if there is no metadata service, or the instance has no role. */
export async function loadFromInstance(env: Env): Promise<Temporary | undefined> {
  if (env("AWS_EC2_METADATA_DISABLED")?.toLowerCase() === "true") return undefined;
  const standard = env("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") === "IPv6" ? "[fd00:ec2::254]" : "169.254.169.254";
  const endpoint = (env("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? `http://${standard}`).replace(/\/+$/, "");
  if (!URL.canParse(endpoint)) throw new MissingCredentials(`${endpoint} is no address of a metadata service.`);
  const seconds = { "x-aws-ec2-metadata-token-ttl-seconds": "21600" };
  const token = await tryToAsk({ method: "PUT", url: `${endpoint}/latest/api/token`, headers: seconds, body: "" });
  // Version 1 of the service, which gives credentials to any request, is not used.
  if (token?.status !== 200 || !/^[\u0021-\u007e]+$/.test(token.text)) return undefined;
  const headers = { "x-aws-ec2-metadata-token": token.text };
  const roles = await tryToAsk({ method: "GET", url: endpoint + rolesPath, headers, body: "" });
  const role = roles?.status === 200 ? roles.text.trim().split("\n")[0] : undefined;
  if (!role) return undefined;
  const url = `${endpoint}${rolesPath}${encodeURIComponent(role)}`;
  return readTemporary(await askForJson({ method: "GET", url, headers, body: "" }, {}), "Token");
}

async function tryToAsk(request: Parameters<typeof ask>[0]): Promise<Answer | undefined> {
  try {
    return await ask(request, { timeoutMs: metadataTimeoutMs });
  } catch {
    // No route, nobody there, or no answer in time: this is no instance of AWS.
    return undefined;
  }
}
