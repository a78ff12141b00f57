/** Requests for credentials. Errors name the host, and have nothing of the answer, which may hold a secret. */
import { getErrorMessage } from "../../errors.ts";
import type { Env } from "../../platform/platform.ts";
import { MissingCredentials } from "../../protocols/protocol.ts";
import { asRecord, asString } from "../../json.ts";
import { type HttpRequest, readText } from "../../transport/http.ts";
import { send } from "../../transport/node-http.ts";
import { awsCredentials, type AwsCredentials } from "../aws-credentials.ts";

/** Credentials that may expire, in milliseconds since the epoch. */
export interface Temporary extends AwsCredentials {
  expiresMs?: number;
}

interface AskOptions {
  /** For proxies. Absent: none is used, as for addresses that only this machine can reach. */
  env?: Env;
  timeoutMs?: number;
}

export interface Answer {
  status: number;
  text: string;
}

const maxBytes = 64 * 1024;

/** Rejects if there is no answer in time. Redirects are not followed: the request carries a secret. */
export async function ask(request: HttpRequest, { env, timeoutMs = 5_000 }: AskOptions): Promise<Answer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await send(request, { signal, env: env ?? (() => undefined), followsRedirects: false });
  return { status: response.status, text: await readText(response.body, maxBytes) };
}

/** The answer as JSON. Throws `MissingCredentials` unless it is a JSON object with HTTP 200. */
export async function askForJson(request: HttpRequest, options: AskOptions): Promise<Record<string, unknown>> {
  const { status, text } = await askOrFail(request, options);
  if (status !== 200) throw failAt(request.url, `it answered with HTTP ${status}`);
  try {
    return asRecord(JSON.parse(text));
  } catch (error) {
    throw failAt(request.url, "its answer is not JSON", error);
  }
}

/** Throws `MissingCredentials` if there is no answer. */
export async function askOrFail(request: HttpRequest, options: AskOptions): Promise<Answer> {
  try {
    return await ask(request, options);
  } catch (error) {
    const isLate = (error as Error).name === "TimeoutError" || (error as Error).name === "AbortError";
    throw failAt(request.url, isLate ? "it did not answer in time" : getErrorMessage(error), error);
  }
}

export const failAt = (url: string, reason: string, cause?: unknown): MissingCredentials =>
  new MissingCredentials(`AWS credentials could not be read from ${new URL(url).host}: ${reason}.`, { cause });

/** The form that containers, the metadata service and credential processes share. */
export function readTemporary(answer: Record<string, unknown>, tokenName: string): Temporary | undefined {
  const credentials = awsCredentials({
    accessKeyId: asString(answer["AccessKeyId"]),
    secretAccessKey: asString(answer["SecretAccessKey"]),
    sessionToken: asString(answer[tokenName]),
  });
  return credentials && { ...credentials, ...readExpiry(answer["Expiration"]) };
}

/** An ISO date, or milliseconds since the epoch. */
export function readExpiry(value: unknown): { expiresMs?: number } {
  const expiresMs = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(expiresMs) ? { expiresMs } : {};
}

/**
 * The address of a service, or the one that the environment has instead. Secrets go there, so it has to be encrypted or
 * on this machine.
 */
export function getEndpoint(name: "STS" | "SSO" | "SSO_OIDC", standard: string, env: Env): string {
  const address = env(`AWS_ENDPOINT_URL_${name}`) ?? env("AWS_ENDPOINT_URL") ?? standard;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isThisMachine(url.hostname));
  if (!url || !isSafe) {
    throw new MissingCredentials(`${address} is no address for AWS credentials: use HTTPS, or this machine.`);
  }
  return address.replace(/\/+$/, "");
}

export const isThisMachine = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);

/** The region becomes part of a host that receives secrets, so it must not contain a dot. */
export function checkRegion(region: string): string {
  if (/^[a-z0-9-]+$/.test(region)) return region;
  throw new MissingCredentials(`${JSON.stringify(region)} is not the name of an AWS region.`);
}

export const getDomain = (region: string): string => (region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com");
