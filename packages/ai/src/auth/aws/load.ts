/** Finds AWS credentials where AWS's own tools look for them. */
import type { Env } from "../../platform/platform.ts";
import { MissingCredentials } from "../../protocols/protocol.ts";
import { awsCredentials, type AwsCredentials, envAwsCredentials } from "../aws-credentials.ts";
import type { Temporary } from "./ask.ts";
import { loadFromContainer, loadFromInstance } from "./metadata.ts";
import { loadFromProcess } from "./process.ts";
import { type Profiles, readProfiles, type Section } from "./profiles.ts";
import { assumeRole, assumeRoleWithToken, type Role } from "./roles.ts";
import { loadFromSso } from "./sso.ts";

/** Everything that decides which credentials are found. */
export const awsVariables =
  `HOME USERPROFILE AWS_PROFILE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_REGION AWS_DEFAULT_REGION AWS_ROLE_ARN
AWS_ROLE_SESSION_NAME AWS_WEB_IDENTITY_TOKEN_FILE AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_CONTAINER_CREDENTIALS_FULL_URI
AWS_CONTAINER_AUTHORIZATION_TOKEN AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE AWS_EC2_METADATA_DISABLED
AWS_EC2_METADATA_SERVICE_ENDPOINT AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE AWS_ENDPOINT_URL AWS_ENDPOINT_URL_STS AWS_ENDPOINT_URL_SSO
AWS_ENDPOINT_URL_SSO_OIDC AWS_ACCESS_KEY_ID`.split(/\s+/);

interface Kept {
  credentials: Promise<Temporary | undefined>;
  /** Until when they are used without being asked for again. */
  untilMs: number;
}

/** Temporary credentials are asked for again this long before they expire. */
const marginMs = 5 * 60_000;
/** How long a machine without any credentials is not asked again. */
const noneMs = 60_000;

const kept = new Map<string, Kept>();

/**
 * Credentials of a profile in AWS's shared files: keys, a role, single sign-on, a program or a token; else those for a web
 * identity, of a container, or of the instance. A profile that is asked for by name is the only place looked at.
 * Undefined when there are none; throws `MissingCredentials` where something is configured and does not work.
 */
export async function load(env: Env, profile?: string): Promise<AwsCredentials | undefined> {
  const key = JSON.stringify([profile, ...awsVariables.map((name) => env(name))]);
  const known = kept.get(key);
  if (known && Date.now() < known.untilMs) return toPlain(await known.credentials);
  // Requests at the same time ask once.
  const entry: Kept = { credentials: find(env, profile), untilMs: Number.POSITIVE_INFINITY };
  kept.set(key, entry);
  try {
    const credentials = await entry.credentials;
    const expiresMs = credentials ? credentials.expiresMs : Date.now() + noneMs + marginMs;
    // Keys in files do not expire, and the files may change.
    if (expiresMs === undefined || (!credentials && profile !== undefined)) kept.delete(key);
    else entry.untilMs = expiresMs - marginMs;
    return toPlain(credentials);
  } catch (error) {
    kept.delete(key);
    throw error;
  }
}

const toPlain = (credentials: Temporary | undefined): AwsCredentials | undefined =>
  credentials && awsCredentials({ sessionToken: undefined, ...credentials });

async function find(env: Env, profile: string | undefined): Promise<Temporary | undefined> {
  const profiles = await readProfiles(env);
  const named = profile ?? env("AWS_PROFILE");
  const credentials = await loadProfile(named ?? "default", { profiles, env, path: [] });
  if (credentials || named !== undefined) return credentials;
  return (await loadForWebIdentity(env)) ?? (await loadFromContainer(env)) ?? (await loadFromInstance(env));
}

interface Search {
  profiles: Profiles;
  env: Env;
  /** The profiles that led here, each as the source of the one before. */
  path: readonly string[];
}

async function loadProfile(name: string, search: Search): Promise<Temporary | undefined> {
  const section = search.profiles.get(name);
  if (!section) return undefined;
  const fixed = awsCredentials({
    accessKeyId: section.get("aws_access_key_id"),
    secretAccessKey: section.get("aws_secret_access_key"),
    sessionToken: section.get("aws_session_token"),
  });
  // A profile with a role may be its own source.
  if (fixed && search.path.length > 0) return fixed;
  const role = readRole(section);
  const source = section.get("source_profile") ?? section.get("credential_source");
  if (role && source !== undefined) return await loadRole(name, { section, role }, search);
  if (fixed) return fixed;
  const { profiles, env } = search;
  const tokenFile = section.get("web_identity_token_file");
  if (role && tokenFile) return await assumeRoleWithToken({ role, region: section.get("region"), env }, tokenFile);
  const command = section.get("credential_process");
  if (command) return await loadFromProcess(command, name);
  const usesSso = section.has("sso_session") || section.has("sso_start_url");
  return usesSso ? await loadFromSso(name, section, { profiles, env }) : undefined;
}

async function loadRole(
  name: string,
  { section, role }: { section: Section; role: Role },
  search: Search,
): Promise<Temporary> {
  const { env, path } = search;
  const subject = `The AWS profile ${JSON.stringify(name)}`;
  if (section.has("mfa_serial")) {
    const advice = "Set the variables that `aws configure export-credentials` prints.";
    throw new MissingCredentials(`${subject} needs a code of a device, which cannot be asked for here. ${advice}`);
  }
  const source = section.get("source_profile");
  if (source !== undefined && path.includes(source)) {
    throw new MissingCredentials(`${subject} is its own source: ${[...path, name, source].join(", ")}.`);
  }
  const credentials =
    source === undefined
      ? await loadSource(section.get("credential_source"), env)
      : await loadProfile(source, { ...search, path: [...path, name] });
  if (!credentials) {
    const from = source ?? section.get("credential_source");
    throw new MissingCredentials(`${subject} has a role, and there are no credentials in its source ${from}.`);
  }
  return await assumeRole({ role, region: section.get("region"), env }, credentials);
}

async function loadSource(source: string | undefined, env: Env): Promise<Temporary | undefined> {
  switch (source) {
    case "Environment":
      return envAwsCredentials(env);
    case "EcsContainer":
      return await loadFromContainer(env);
    case "Ec2InstanceMetadata":
      return await loadFromInstance(env);
    default:
      return undefined;
  }
}

function readRole(section: Section): Role | undefined {
  const arn = section.get("role_arn");
  if (arn === undefined) return undefined;
  return {
    arn,
    sessionName: section.get("role_session_name"),
    durationSeconds: section.get("duration_seconds"),
    externalId: section.get("external_id"),
  };
}

async function loadForWebIdentity(env: Env): Promise<Temporary | undefined> {
  const [tokenFile, arn] = [env("AWS_WEB_IDENTITY_TOKEN_FILE"), env("AWS_ROLE_ARN")];
  if (!tokenFile || !arn) return undefined;
  const sessionName = env("AWS_ROLE_SESSION_NAME");
  const role: Role = { arn, sessionName, durationSeconds: undefined, externalId: undefined };
  return await assumeRoleWithToken({ role, region: undefined, env }, tokenFile);
}
