/** Roles that the Security Token Service gives for other credentials, or for a token of another identity provider. */
import type { Env } from "../../platform/platform.ts";
import { MissingCredentials } from "../../protocols/protocol.ts";
import type { HttpRequest } from "../../transport/http.ts";
import { awsCredentials, type AwsCredentials } from "../aws-credentials.ts";
import { signV4 } from "../sigv4.ts";
import { askOrFail, checkRegion, failAt, getDomain, getEndpoint, readExpiry, type Temporary } from "./ask.ts";
import { readNamed } from "./profiles.ts";

export interface Role {
  arn: string;
  /** Appears in the logs of the account. */
  sessionName: string | undefined;
  durationSeconds: string | undefined;
  externalId: string | undefined;
}

interface RoleRequest {
  role: Role;
  region: string | undefined;
  env: Env;
}

export async function assumeRole({ role, region, env }: RoleRequest, source: AwsCredentials): Promise<Temporary> {
  const request = toRequest("AssumeRole", role, { region, env });
  const scope = { region: request.region, service: "sts", nowMs: Date.now() };
  return await exchange(await signV4(request.http, source, scope), env);
}

/** `tokenFile` is renewed by others, so it is read each time. */
export async function assumeRoleWithToken(request: RoleRequest, tokenFile: string): Promise<Temporary> {
  const { role, region, env } = request;
  const WebIdentityToken = await readNamed(tokenFile);
  return await exchange(toRequest("AssumeRoleWithWebIdentity", role, { region, env }, { WebIdentityToken }).http, env);
}

function toRequest(
  action: string,
  role: Role,
  { region, env }: { region: string | undefined; env: Env },
  others: Record<string, string> = {},
): { region: string; http: HttpRequest } {
  const chosen = checkRegion(region ?? env("AWS_REGION") ?? env("AWS_DEFAULT_REGION") ?? "us-east-1");
  const fields = new URLSearchParams({
    Action: action,
    Version: "2011-06-15",
    RoleArn: role.arn,
    RoleSessionName: role.sessionName ?? `tau-${Date.now()}`,
    ...(role.durationSeconds !== undefined && { DurationSeconds: role.durationSeconds }),
    ...(role.externalId !== undefined && { ExternalId: role.externalId }),
    ...others,
  });
  const url = `${getEndpoint("STS", `https://sts.${chosen}.${getDomain(chosen)}`, env)}/`;
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  return { region: chosen, http: { method: "POST", url, headers, body: fields.toString() } };
}

async function exchange(request: HttpRequest, env: Env): Promise<Temporary> {
  const { status, text } = await askOrFail(request, { env });
  if (status !== 200) {
    const code = /<Code>([A-Za-z]+)<\/Code>/.exec(text)?.[1] ?? `HTTP ${status}`;
    throw failAt(request.url, `the role was refused (${code})`);
  }
  const element = (name: string) => new RegExp(`<${name}>\\s*([^<\\s]+)\\s*</${name}>`).exec(text)?.[1];
  const credentials = awsCredentials({
    accessKeyId: element("AccessKeyId"),
    secretAccessKey: element("SecretAccessKey"),
    sessionToken: element("SessionToken"),
  });
  if (!credentials) throw new MissingCredentials(`${new URL(request.url).host} answered without AWS credentials.`);
  return { ...credentials, ...readExpiry(element("Expiration")) };
}
