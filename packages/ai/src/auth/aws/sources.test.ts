/** Temporary AWS credentials, each from a server or a program on this machine. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { load } from "./load.ts";

interface Seen {
  method: string | undefined;
  path: string;
  headers: IncomingMessage["headers"];
  text: string;
  fields: URLSearchParams;
}

type Answer = (seen: Seen) => { status?: number; body: string } | undefined;

/** Answers, and keeps what it was asked. Undefined: it never answers. */
async function serve(answer: Answer) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const { method, url: path = "", headers } = request;
    const one = { method, path, headers, text, fields: new URLSearchParams(text) };
    seen.push(one);
    const given = answer(one);
    if (given) response.writeHead(given.status ?? 200).end(given.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A home directory with a configuration. The variables are those of nobody else, so that nothing is kept between tests. */
function createHome(config: string) {
  const home = mkdtempSync(join(tmpdir(), "tau-aws-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, ".aws", "sso", "cache"), { recursive: true });
  writeFileSync(join(home, ".aws", "config"), config);
  const env =
    (variables: Record<string, string> = {}) =>
    (name: string) =>
      ({ HOME: home, AWS_EC2_METADATA_DISABLED: "true", ...variables })[name];
  return { home, env };
}

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const hour = 3_600_000;

const stsAnswer = (name: string, expiresInMs = hour) =>
  `<R><Credentials><AccessKeyId>AK${name}</AccessKeyId><SecretAccessKey>s+/=${name}</SecretAccessKey><SessionToken>t-${name}</SessionToken><Expiration>${inMs(expiresInMs)}</Expiration></Credentials></R>`;

const given = (name: string) => ({
  accessKeyId: `AK${name}`,
  secretAccessKey: `s+/=${name}`,
  sessionToken: `t-${name}`,
});

describe("a role", () => {
  const config = `
[profile base]
aws_access_key_id = AKBASE
aws_secret_access_key = secret-base
[profile dev]
role_arn = arn:aws:iam::1:role/dev
source_profile = base
external_id = ext
duration_seconds = 900
region = eu-west-1
[profile chained]
role_arn = arn:aws:iam::1:role/chained
source_profile = dev
[profile own]
role_arn = arn:aws:iam::1:role/own
source_profile = own
aws_access_key_id = AKOWN
aws_secret_access_key = secret-own
[profile round]
role_arn = arn:aws:iam::1:role/round
source_profile = trip
[profile trip]
role_arn = arn:aws:iam::1:role/trip
source_profile = round
[profile variables]
role_arn = arn:aws:iam::1:role/variables
credential_source = Environment
[profile nothing]
role_arn = arn:aws:iam::1:role/nothing
source_profile = nobody
[profile device]
role_arn = arn:aws:iam::1:role/device
source_profile = base
mfa_serial = arn:aws:iam::1:mfa/me
`;

  async function start(answer: Answer = ({ fields }) => ({ body: stsAnswer(fields.get("RoleArn")!.split("/")[1]!) })) {
    const server = await serve(answer);
    const { env } = createHome(config);
    const get = (profile: string, variables = {}) =>
      load(env({ AWS_ENDPOINT_URL_STS: server.url, ...variables }), profile);
    return { ...server, get };
  }

  test("is assumed with the keys of another profile, by a signed request, and kept until it expires", async () => {
    const { get, seen } = await start();
    expect(await Promise.all([get("dev"), get("dev")])).toEqual([given("dev"), given("dev")]);
    expect(await get("dev")).toEqual(given("dev"));
    expect(seen).toHaveLength(1);
    const [{ fields, headers }] = seen as [Seen];
    expect(Object.fromEntries(fields)).toEqual({
      Action: "AssumeRole",
      Version: "2011-06-15",
      RoleArn: "arn:aws:iam::1:role/dev",
      RoleSessionName: expect.stringMatching(/^tau-\d+$/),
      ExternalId: "ext",
      DurationSeconds: "900",
    });
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKBASE\/\d{8}\/eu-west-1\/sts\/aws4_request, SignedHeaders=host;x-amz-date, /,
    );
  });

  test("that has expired, or soon will, is assumed again", async () => {
    const { get, seen } = await start(() => ({ body: stsAnswer("dev", 60_000) }));
    await get("dev");
    await get("dev");
    expect(seen).toHaveLength(2);
  });

  test("may be the source of another, and a profile its own source", async () => {
    const { get, seen } = await start();
    expect(await get("chained")).toEqual(given("chained"));
    expect(seen.map(({ fields }) => fields.get("RoleArn")!.split("/")[1])).toEqual(["dev", "chained"]);
    expect(seen[1]!.headers["x-amz-security-token"]).toBe("t-dev");
    expect(await get("own")).toEqual(given("own"));
    expect(seen[2]!.headers.authorization).toContain("Credential=AKOWN/");
  });

  test("is assumed with the keys of the environment where the profile says so", async () => {
    const { get, seen } = await start();
    const keys = { AWS_ACCESS_KEY_ID: "AKENV", AWS_SECRET_ACCESS_KEY: "secret-env", AWS_SESSION_TOKEN: "t-env" };
    expect(await get("variables", keys)).toEqual(given("variables"));
    expect(seen[0]!.headers.authorization).toContain("Credential=AKENV/");
    expect(seen[0]!.headers["x-amz-security-token"]).toBe("t-env");
  });

  test.each([
    ["round", "is its own source: round, trip, round"],
    ["nothing", "there are no credentials in its source nobody"],
    ["variables", "there are no credentials in its source Environment"],
    ["device", "needs a code of a device"],
  ])("%s is an error that says so", async (profile, message) => {
    const { get, seen } = await start();
    await expect(get(profile)).rejects.toMatchObject({
      name: "MissingCredentials",
      message: expect.stringContaining(message),
    });
    expect(seen).toEqual([]);
  });

  test("that is refused is an error with the code, and not with the text of the answer", async () => {
    const body = "<Error><Code>AccessDenied</Code><Message>canary</Message></Error>";
    const { get } = await start(() => ({ status: 403, body }));
    const refused = get("dev");
    await expect(refused).rejects.toMatchObject({
      name: "MissingCredentials",
      message: expect.stringContaining("AccessDenied"),
    });
    await expect(refused).rejects.not.toThrow("canary");
  });

  test("is never asked for at an address of another machine without encryption", async () => {
    const { get } = await start();
    await expect(get("dev", { AWS_ENDPOINT_URL_STS: "http://sts.example.com" })).rejects.toThrow("use HTTPS");
  });
});

test("a web identity gives a role, named by variables or by a profile, without a signature", async () => {
  const server = await serve(({ fields }) => ({ body: stsAnswer(fields.get("RoleSessionName")!) }));
  const { home, env } = createHome(
    `[profile web]\nrole_arn = arn:aws:iam::1:role/web\nrole_session_name = profile\nweb_identity_token_file = TOKEN`,
  );
  const tokenFile = join(home, "token");
  writeFileSync(tokenFile, "jwt-1\n");
  writeFileSync(
    join(home, ".aws", "config"),
    readFileSync(join(home, ".aws", "config"), "utf8").replace("TOKEN", tokenFile),
  );
  const variables = {
    AWS_ENDPOINT_URL: server.url,
    AWS_ROLE_ARN: "arn:aws:iam::1:role/pod",
    AWS_ROLE_SESSION_NAME: "pod",
    AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
  };
  expect(await load(env(variables))).toEqual(given("pod"));
  expect(await load(env({ AWS_ENDPOINT_URL: server.url }), "web")).toEqual(given("profile"));
  for (const { fields, headers } of server.seen) {
    expect(fields.get("Action")).toBe("AssumeRoleWithWebIdentity");
    expect(fields.get("WebIdentityToken")).toBe("jwt-1");
    expect(headers.authorization).toBeUndefined();
  }
});

describe("a program", () => {
  const print = (value: unknown) => `printf '%s' '${JSON.stringify(value)}'`;
  const good = { Version: 1, AccessKeyId: "AKPROC", SecretAccessKey: "s", SessionToken: "t", Expiration: inMs(hour) };
  const getFrom = (command: string) => load(createHome(`[default]\ncredential_process = ${command}`).env());

  test("prints credentials", async () => {
    const expected = { accessKeyId: "AKPROC", secretAccessKey: "s", sessionToken: "t" };
    expect(await getFrom(print(good))).toEqual(expected);
    expect(await getFrom(print({ Version: 1, AccessKeyId: "A", SecretAccessKey: "s" }))).toEqual({
      accessKeyId: "A",
      secretAccessKey: "s",
    });
  });

  test.each([
    ["fails", "exit 3", "failed (3)"],
    ["prints something else", "echo canary", "printed no credentials"],
    ["prints another version", print({ ...good, Version: 2, SessionToken: "canary" }), "printed no credentials"],
  ])("that %s is an error that names the profile, and not the command", async (_what, command, message) => {
    const failed = getFrom(command);
    await expect(failed).rejects.toMatchObject({
      name: "MissingCredentials",
      message: expect.stringContaining(message),
    });
    await expect(failed).rejects.toThrow('"default"');
    await expect(failed).rejects.not.toThrow("canary");
  });
});

describe("single sign-on", () => {
  const session = `
[sso-session corp]
sso_start_url = https://corp.awsapps.com/start
sso_region = eu-west-1
[profile new]
sso_session = corp
sso_account_id = 111122223333
sso_role_name = Dev
[profile old]
sso_start_url = https://old.awsapps.com/start
sso_region = eu-west-1
sso_account_id = 444455556666
sso_role_name = Ops
[profile half]
sso_session = corp
`;

  async function start(tokens: Readonly<Record<string, object>>, renewal?: Answer) {
    const server = await serve((seen) => {
      if (seen.path === "/token") return renewal?.(seen) ?? { status: 400, body: '{"error":"invalid_grant"}' };
      const { searchParams } = new URL(seen.path, "http://x");
      const role = searchParams.get("role_name");
      const credentials = {
        accessKeyId: `AK${role}`,
        secretAccessKey: "s",
        sessionToken: "t",
        expiration: Date.now() + hour,
      };
      return { body: JSON.stringify({ roleCredentials: credentials }) };
    });
    const { home, env } = createHome(session);
    const getPath = (key: string) =>
      join(home, ".aws", "sso", "cache", `${createHash("sha1").update(key).digest("hex")}.json`);
    for (const [key, token] of Object.entries(tokens)) writeFileSync(getPath(key), JSON.stringify(token));
    return { ...server, getPath, get: (profile: string) => load(env({ AWS_ENDPOINT_URL: server.url }), profile) };
  }

  const valid = { accessToken: "token-1", expiresAt: inMs(hour) };

  test("gives the credentials of a role, for a session and in the older form", async () => {
    const { get, seen } = await start({
      corp: valid,
      "https://old.awsapps.com/start": { ...valid, accessToken: "token-2" },
    });
    expect(await get("new")).toEqual({ accessKeyId: "AKDev", secretAccessKey: "s", sessionToken: "t" });
    expect(await get("old")).toMatchObject({ accessKeyId: "AKOps" });
    expect(seen.map(({ path, headers }) => [path, headers["x-amz-sso_bearer_token"]])).toEqual([
      ["/federation/credentials?role_name=Dev&account_id=111122223333", "token-1"],
      ["/federation/credentials?role_name=Ops&account_id=444455556666", "token-2"],
    ]);
  });

  const renewable = { clientId: "c", clientSecret: "cs", refreshToken: "r1", region: "eu-west-1" };

  test("renews an expired token, and stores the new one for AWS's own tools", async () => {
    const stored = { ...renewable, accessToken: "gone", expiresAt: inMs(-hour) };
    const { get, seen, getPath } = await start({ corp: stored }, () => ({
      body: JSON.stringify({ accessToken: "token-3", expiresIn: 3600, refreshToken: "r2" }),
    }));
    expect(await get("new")).toMatchObject({ accessKeyId: "AKDev" });
    expect(JSON.parse(seen[0]!.text)).toEqual({
      grantType: "refresh_token",
      clientId: "c",
      clientSecret: "cs",
      refreshToken: "r1",
    });
    expect(seen[1]!.headers["x-amz-sso_bearer_token"]).toBe("token-3");
    const after = JSON.parse(readFileSync(getPath("corp"), "utf8")) as Record<string, string>;
    expect(after).toMatchObject({ ...renewable, accessToken: "token-3", refreshToken: "r2" });
    expect(Date.parse(after["expiresAt"]!)).toBeGreaterThan(Date.now() + hour / 2);
    expect(statSync(getPath("corp")).mode & 0o077).toBe(0);
  });

  test.each([
    ["no token", {}],
    ["an expired token", { corp: { ...valid, expiresAt: inMs(-1) } }],
    ["a token whose renewal is refused", { corp: { ...renewable, accessToken: "gone", expiresAt: inMs(-1) } }],
    ["a damaged cache", { corp: [] }],
  ])("with %s says how to log in", async (_what, tokens) => {
    const { get } = await start(tokens as Record<string, object>);
    await expect(get("new")).rejects.toMatchObject({
      name: "MissingCredentials",
      message: expect.stringContaining("aws sso login --profile new"),
    });
  });

  test("without an account or a role is an error that names what is missing", async () => {
    const { get } = await start({ corp: valid });
    await expect(get("half")).rejects.toThrow("needs sso_account_id, sso_role_name");
  });
});

describe("the metadata service of an instance", () => {
  const instance: Answer = ({ method, path, headers }) => {
    if (method === "PUT") return { body: headers["x-aws-ec2-metadata-token-ttl-seconds"] ? "imds-token" : "" };
    if (headers["x-aws-ec2-metadata-token"] !== "imds-token") return { status: 401, body: "" };
    if (path.endsWith("/security-credentials/")) return { body: "my-role\n" };
    const body = {
      Code: "Success",
      AccessKeyId: "AKEC2",
      SecretAccessKey: "s",
      Token: "t",
      Expiration: inMs(6 * hour),
    };
    return { body: JSON.stringify(body) };
  };

  async function start(answer: Answer) {
    const server = await serve(answer);
    const { env } = createHome("");
    const variables = { AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url, AWS_EC2_METADATA_DISABLED: "" };
    return { ...server, get: (more = {}) => load(env({ ...variables, ...more })) };
  }

  test("gives the credentials of the role for a token of version 2, once", async () => {
    const { get, seen } = await start(instance);
    expect(await get()).toEqual({ accessKeyId: "AKEC2", secretAccessKey: "s", sessionToken: "t" });
    await get();
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "PUT /latest/api/token",
      "GET /latest/meta-data/iam/security-credentials/",
      "GET /latest/meta-data/iam/security-credentials/my-role",
    ]);
  });

  test.each<[string, Answer, number]>([
    ["refuses version 2", () => ({ status: 404, body: "" }), 1],
    ["never answers", () => undefined, 1],
    ["has no role", (seen) => (seen.method === "PUT" ? instance(seen) : { status: 404, body: "" }), 2],
  ])("that %s gives nothing, and is not asked again at once", async (_what, answer, count) => {
    const { get, seen } = await start(answer);
    expect(await get()).toBeUndefined();
    expect(await get()).toBeUndefined();
    expect(seen).toHaveLength(count);
  });

  test("is not asked where that is turned off, or a profile is named", async () => {
    const { get, seen } = await start(instance);
    expect(await get({ AWS_EC2_METADATA_DISABLED: "true" })).toBeUndefined();
    expect(await get({ AWS_PROFILE: "nobody" })).toBeUndefined();
    expect(seen).toEqual([]);
  });
});
