import { AiError } from "../../errors.ts";

/** AWS's own hosts; what stands between the first and the last dots is the region. */
const awsHost = /^bedrock-runtime(-fips)?\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?$/;
/** The region in the host of a private endpoint. */
const anyHost = /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./;

/** The region that an ARN names, where the model's id is one. */
export const arnRegion = (modelId: string): string | undefined =>
  /^arn:aws[a-z0-9-]*:bedrock:([a-z0-9-]+):/.exec(modelId)?.[1];

/**
 * Where a request goes and which region signs it. An AWS host follows the region that was asked for; every other base
 * URL is kept as it is. Where nobody names a region, the host does, and at last `us-east-1`.
 */
export function resolveEndpoint(url: string, region: string | undefined): { url: string; region: string } {
  // The region becomes part of a host name, and the host gets the credentials.
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
