import { AiError } from "../../errors.ts";

/** AWS's own hosts; the second group is the region. */
const awsHost = /^bedrock-runtime(-fips)?\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/;
/** The region in the host of a private endpoint. */
const anyHost = /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./;

/** The region in the model id if the id is an ARN. */
export const parseArnRegion = (modelId: string): string | undefined =>
  /^arn:aws[a-z0-9-]*:bedrock:([a-z0-9-]+):/.exec(modelId)?.[1];

/**
 * The URL of the request and the region to sign for. For an AWS host, the requested region replaces the one in the
 * host; any other URL is kept. Without a requested region, the region of the host is used, else `us-east-1`.
 */
export function resolveEndpoint(url: string, region: string | undefined): { url: string; region: string } {
  // The region becomes part of the host name, and the host receives the credentials, so it must not contain a dot.
  if (region !== undefined && !/^[a-z0-9-]+$/.test(region)) {
    throw new AiError("invalid_provider", `${JSON.stringify(region)} is not the name of an AWS region.`);
  }
  const target = new URL(url);
  const host = awsHost.exec(target.hostname);
  if (!host) return { url, region: region ?? anyHost.exec(target.hostname)?.[1] ?? "us-east-1" };
  const [, fips = "", hostRegion = ""] = host;
  if (region === undefined || region === hostRegion) return { url, region: hostRegion };
  target.hostname = `bedrock-runtime${fips}.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
  return { url: target.href, region };
}
