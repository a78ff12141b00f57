/** Single sign-on: the token that `aws sso login` stored, renewed if it has expired, gives the credentials of a role. */
import { createHash, randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Env } from "../../platform/platform.ts";
import { MissingCredentials } from "../../protocols/protocol.ts";
import { asRecord, asString, tryParseJson } from "../../json.ts";
import { awsCredentials } from "../aws-credentials.ts";
import { ask, askForJson, checkRegion, getDomain, getEndpoint, readExpiry, type Temporary } from "./ask.ts";
import { getHome, type Profiles, type Section } from "./profiles.ts";

/** The fields of a token in AWS's cache. Others are kept. */
type StoredToken = Record<string, unknown>;

/** A token is renewed this long before it expires. */
const marginMs = 5 * 60_000;

interface SsoLogin {
  profile: string;
  startUrl: string;
  region: string;
  /** The name of the file in the cache is a digest of it. */
  cacheKey: string;
}

export async function loadFromSso(
  profile: string,
  section: Section,
  { profiles, env }: { profiles: Profiles; env: Env },
): Promise<Temporary> {
  const login = findLogin(profile, section, profiles);
  const [account, role] = [section.get("sso_account_id"), section.get("sso_role_name")];
  if (!login || !account || !role) {
    const needed = "sso_account_id, sso_role_name, and sso_session or sso_start_url and sso_region";
    throw new MissingCredentials(`The AWS profile ${JSON.stringify(profile)} needs ${needed}.`);
  }
  const token = await getToken(login, env);
  const { region } = login;
  const endpoint = getEndpoint("SSO", `https://portal.sso.${region}.${getDomain(region)}`, env);
  const query = new URLSearchParams({ role_name: role, account_id: account }).toString();
  const headers = { accept: "application/json", "x-amz-sso_bearer_token": token };
  const request = { method: "GET", url: `${endpoint}/federation/credentials?${query}`, headers, body: "" };
  const answer = asRecord((await askForJson(request, { env }))["roleCredentials"]);
  const credentials = awsCredentials({
    accessKeyId: asString(answer["accessKeyId"]),
    secretAccessKey: asString(answer["secretAccessKey"]),
    sessionToken: asString(answer["sessionToken"]),
  });
  if (!credentials) throw new MissingCredentials(`${new URL(endpoint).host} answered without AWS credentials.`);
  return { ...credentials, ...readExpiry(answer["expiration"]) };
}

/** The settings are in a section for the session, or, in an older form, in the profile itself. */
function findLogin(profile: string, section: Section, profiles: Profiles): SsoLogin | undefined {
  const name = section.get("sso_session");
  const place = name === undefined ? section : profiles.ssoSession(name);
  const [startUrl, region] = [place?.get("sso_start_url"), place?.get("sso_region")];
  if (!startUrl || !region) return undefined;
  return { profile, startUrl, region: checkRegion(region), cacheKey: name ?? startUrl };
}

async function getToken(login: SsoLogin, env: Env): Promise<string> {
  const name = `${createHash("sha1").update(login.cacheKey).digest("hex")}.json`;
  const path = join(getHome(env), ".aws", "sso", "cache", name);
  const stored = asRecord(tryParseJson(await readFile(path, "utf8").catch(() => "")));
  const lifetimeMs = (readExpiry(stored["expiresAt"]).expiresMs ?? 0) - Date.now();
  const token = asString(stored["accessToken"]);
  if (token && lifetimeMs > marginMs) return token;
  const renewed = await renew(stored, { path, region: login.region, env });
  if (renewed !== undefined) return renewed;
  if (token && lifetimeMs > 0) return token;
  const command = `aws sso login --profile ${login.profile}`;
  throw new MissingCredentials(`There is no valid single sign-on at ${login.startUrl}. Log in: ${command}`);
}

/** Undefined if the token cannot be renewed: then only a new login helps. */
async function renew(
  stored: StoredToken,
  { path, region, env }: { path: string; region: string; env: Env },
): Promise<string | undefined> {
  const fields = {
    grantType: "refresh_token",
    clientId: asString(stored["clientId"]),
    clientSecret: asString(stored["clientSecret"]),
    refreshToken: asString(stored["refreshToken"]),
  };
  if (!fields.clientId || !fields.clientSecret || !fields.refreshToken) return undefined;
  const endpoint = getEndpoint("SSO_OIDC", `https://oidc.${region}.${getDomain(region)}`, env);
  const headers = { "content-type": "application/json", accept: "application/json" };
  const body = JSON.stringify(fields);
  const { status, text } = await ask({ method: "POST", url: `${endpoint}/token`, headers, body }, { env }).catch(
    () => ({
      status: 0,
      text: "",
    }),
  );
  const answer = asRecord(tryParseJson(text));
  const [accessToken, expiresIn] = [asString(answer["accessToken"]), answer["expiresIn"]];
  if (status !== 200 || !accessToken || typeof expiresIn !== "number") return undefined;
  const refreshToken = asString(answer["refreshToken"]) ?? fields.refreshToken;
  const expiresAt = new Date(Date.now() + expiresIn * 1000).toISOString().replace(/\.\d+/, "");
  // The refresh token may be valid once, so that AWS's own tools need the new one.
  await replace(path, JSON.stringify({ ...stored, accessToken, refreshToken, expiresAt }));
  return accessToken;
}

/** Without the new token in the cache the other tools ask for a login, which is no reason to refuse this request. */
async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    process.emitWarning(`The renewed AWS token could not be stored: ${(error as NodeJS.ErrnoException).code}`);
  }
}
