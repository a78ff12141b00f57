import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Env } from "../platform/platform.ts";
import type { AwsCredentials } from "./aws-credentials.ts";

/** Reads a profile of AWS's shared credentials file. */
export async function load(env: Env, profile = env("AWS_PROFILE") ?? "default"): Promise<AwsCredentials | undefined> {
  const path = env("AWS_SHARED_CREDENTIALS_FILE") ?? join(homedir(), ".aws", "credentials");
  const section = parseProfiles(await readIfThere(path)).get(profile);
  const accessKeyId = section?.get("aws_access_key_id");
  const secretAccessKey = section?.get("aws_secret_access_key");
  if (!accessKeyId || !secretAccessKey) return undefined;
  const sessionToken = section?.get("aws_session_token");
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

function parseProfiles(text: string): Map<string, Map<string, string>> {
  const profiles = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const name = /^\s*\[\s*(?:profile\s+)?([^\]]+?)\s*\]/.exec(line)?.[1];
    if (name) profiles.set(name, (current = profiles.get(name) ?? new Map()));
    const [, key, value] = /^\s*([a-z_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key && value && current) current.set(key, value);
  }
  return profiles;
}
