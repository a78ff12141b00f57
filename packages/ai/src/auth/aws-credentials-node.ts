import { readFile } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import { homedir } from "node:os";
import { join } from "node:path";
import { getErrorMessage } from "../errors.ts";
import type { Env } from "../platform/platform.ts";
import { MissingCredentials } from "../protocols/protocol.ts";
import { asRecord, asString } from "../json.ts";
import { type AwsCredentials, awsCredentials } from "./aws-credentials.ts";

/**
 * Credentials of a profile in AWS's shared files, else those that the container's host hands out. A profile that is
 * asked for by name is the only place looked at. Undefined when there are none.
 */
export async function load(env: Env, profile?: string): Promise<AwsCredentials | undefined> {
  const named = profile ?? env("AWS_PROFILE");
  const credentials = await profileCredentials(env, named ?? "default");
  return credentials ?? (named === undefined ? await containerCredentials(env) : undefined);
}

async function profileCredentials(env: Env, profile: string): Promise<AwsCredentials | undefined> {
  const home = env("HOME") ?? env("USERPROFILE") ?? homedir();
  const files = [
    env("AWS_SHARED_CREDENTIALS_FILE") ?? join(home, ".aws", "credentials"),
    env("AWS_CONFIG_FILE") ?? join(home, ".aws", "config"),
  ];
  const profiles = (await Promise.all(files.map(readIfThere))).map(parseProfiles);
  // Both files may hold a part of a profile; the credentials file has precedence.
  const setting = (key: string) => profiles.map((sections) => sections.get(profile)?.get(key)).find(Boolean);
  return awsCredentials({
    accessKeyId: setting("aws_access_key_id"),
    secretAccessKey: setting("aws_secret_access_key"),
    sessionToken: setting("aws_session_token"),
  });
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw unreadable(path, error);
  }
}

/** Names the file, because it may be one that the user has never heard of. */
function unreadable(path: string, error: unknown): MissingCredentials {
  const isDirectory = (error as NodeJS.ErrnoException).code === "EISDIR";
  const reason = isDirectory ? "it is a directory, not a file." : getErrorMessage(error);
  return new MissingCredentials(`AWS credentials could not be read from ${path}: ${reason}`, { cause: error });
}

/** Sections by profile. The config file writes `[profile name]` where the credentials file writes `[name]`. */
function parseProfiles(source: string): Map<string, Map<string, string>> {
  const profiles = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  // A setting without a value is the head of nested ones, which are indented below it.
  let isNesting = false;
  for (const line of source.split(/\r?\n/)) {
    const name = /^\s*\[\s*(?:profile\s+)?"?([^\]"]+?)"?\s*\]/.exec(line)?.[1];
    if (name !== undefined) profiles.set(name, (current = profiles.get(name) ?? new Map()));
    const [, indent, key, value] = /^(\s*)([\w-]+)\s*=\s*(.*?)\s*(?:\s[#;].*)?$/.exec(line) ?? [];
    if (name !== undefined || (key && indent === "")) isNesting = key !== undefined && value === "";
    if (key && value && !isNesting) current?.set(key, value);
  }
  return profiles;
}

const containerHost = "http://169.254.170.2";
/** Hosts that may be asked without encryption: they are this machine, or answer only on it. */
const localHosts = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;
const containerTimeoutMs = 5_000;
const maxContainerBytes = 64 * 1024;

async function containerCredentials(env: Env): Promise<AwsCredentials | undefined> {
  const relative = env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const address = relative ? containerHost + relative : env("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!address) return undefined;
  if (!URL.canParse(address)) throw new MissingCredentials(`${address} is not an address to get AWS credentials from.`);
  const url = new URL(address);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && localHosts.test(url.hostname))) {
    throw new MissingCredentials(`AWS credentials are not asked for at ${url.host}: use HTTPS or a local address.`);
  }
  const tokenFile = env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  const token = tokenFile ? await readToken(tokenFile) : env("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const answer = asRecord(await getJson(url, token ? { authorization: token } : {}));
  return awsCredentials({
    accessKeyId: asString(answer["AccessKeyId"]),
    secretAccessKey: asString(answer["SecretAccessKey"]),
    sessionToken: asString(answer["Token"]),
  });
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function getJson(url: URL, headers: Record<string, string>): Promise<unknown> {
  try {
    return JSON.parse(await get(url, headers)) as unknown;
  } catch (error) {
    const message = `AWS credentials could not be read from ${url.host}: ${getErrorMessage(error)}`;
    throw new MissingCredentials(message, { cause: error });
  }
}

function get(url: URL, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const { get: ask } = url.protocol === "https:" ? https : http;
    const request = ask(url, { headers: { accept: "application/json", ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxContainerBytes) request.destroy(new Error("the answer is too long"));
        else chunks.push(chunk);
      });
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString("utf8"));
        else reject(new Error(`it answered with HTTP ${response.statusCode}`));
      });
    });
    request.setTimeout(containerTimeoutMs, () => request.destroy(new Error("it did not answer in time")));
    request.on("error", reject);
  });
}
