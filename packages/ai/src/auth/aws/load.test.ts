import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { envAwsCredentials } from "../aws-credentials.ts";
import { load } from "./load.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-aws-"));
  writeFileSync(
    join(folder, "credentials"),
    [
      "# mine",
      "[default]",
      "aws_access_key_id = AKDEFAULT",
      "aws_secret_access_key=a+b/c=d  # a comment",
      "",
      "[work]\r",
      "  aws_access_key_id=AKWORK\r",
      "  aws_secret_access_key = secret-work\r",
      "aws_session_token = token-work\r",
      "[half]",
      "aws_access_key_id = AKHALF",
    ].join("\n"),
  );
  writeFileSync(
    join(folder, "config"),
    [
      "[profile half]",
      "aws_secret_access_key = secret-half",
      "[profile only config]",
      "s3 =",
      "  aws_access_key_id = AKNESTED",
      "aws_access_key_id = AKCONFIG",
      "aws_secret_access_key = secret-config",
      "[profile empty]",
      "region = eu-west-1",
      "[default]",
      "aws_access_key_id = AKLOSES",
    ].join("\n"),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const files = () => ({
  AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials"),
  AWS_CONFIG_FILE: join(folder, "config"),
});
// The metadata service of an instance is tested in `sources.test.ts`, at an address of this machine.
const env = (variables: Record<string, string>) => (name: string) =>
  name === "AWS_EC2_METADATA_DISABLED" ? "true" : variables[name];

describe("the environment", () => {
  test("both keys make credentials, one alone does not", () => {
    const both = { AWS_ACCESS_KEY_ID: "AK", AWS_SECRET_ACCESS_KEY: "SK" };
    expect(envAwsCredentials(env(both))).toEqual({ accessKeyId: "AK", secretAccessKey: "SK" });
    expect(envAwsCredentials(env({ ...both, AWS_SESSION_TOKEN: "T" }))?.sessionToken).toBe("T");
    expect(envAwsCredentials(env({ AWS_ACCESS_KEY_ID: "AK" }))).toBeUndefined();
    expect(envAwsCredentials(env({ AWS_SECRET_ACCESS_KEY: "SK" }))).toBeUndefined();
  });
});

describe("the shared files", () => {
  test("without a name the default profile is read", async () => {
    expect(await load(env(files()))).toEqual({ accessKeyId: "AKDEFAULT", secretAccessKey: "a+b/c=d" });
  });

  test("a profile is named by the caller, else by AWS_PROFILE", async () => {
    const work = { accessKeyId: "AKWORK", secretAccessKey: "secret-work", sessionToken: "token-work" };
    expect(await load(env(files()), "work")).toEqual(work);
    expect(await load(env({ ...files(), AWS_PROFILE: "work" }))).toEqual(work);
    expect((await load(env({ ...files(), AWS_PROFILE: "work" }), "default"))?.accessKeyId).toBe("AKDEFAULT");
  });

  test("a profile may be in the config file, or in both", async () => {
    expect(await load(env(files()), "only config")).toEqual({
      accessKeyId: "AKCONFIG",
      secretAccessKey: "secret-config",
    });
    expect(await load(env(files()), "half")).toEqual({ accessKeyId: "AKHALF", secretAccessKey: "secret-half" });
  });

  test("a profile without keys, one that is not there, and missing files give nothing", async () => {
    expect(await load(env(files()), "empty")).toBeUndefined();
    expect(await load(env(files()), "nobody")).toBeUndefined();
    const nowhere = { AWS_SHARED_CREDENTIALS_FILE: join(folder, "none"), AWS_CONFIG_FILE: join(folder, "none") };
    expect(await load(env(nowhere))).toBeUndefined();
    const belowAFile = { ...nowhere, AWS_CONFIG_FILE: join(folder, "config", "none") };
    expect(await load(env(belowAFile))).toBeUndefined();
  });

  test.each(["AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"])(
    "a directory in %s is an error that names it",
    async (name) => {
      await expect(load(env({ ...files(), [name]: folder }))).rejects.toMatchObject({
        name: "MissingCredentials",
        message: `AWS credentials could not be read from ${folder}: it is a directory, not a file.`,
      });
    },
  );

  test("a file that cannot be read is an error that names it", async () => {
    // Unlike a file without permissions, a link to itself cannot be read by root either.
    const loop = join(folder, "loop");
    symlinkSync("loop", loop);
    await expect(load(env({ ...files(), AWS_CONFIG_FILE: loop }))).rejects.toMatchObject({
      name: "MissingCredentials",
      message: expect.stringContaining(`AWS credentials could not be read from ${loop}: ELOOP`),
    });
  });
});

describe("a container's endpoint", () => {
  const none = () => ({ AWS_SHARED_CREDENTIALS_FILE: join(folder, "none"), AWS_CONFIG_FILE: join(folder, "none") });

  async function serve(status: number, body: string) {
    const seen: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers);
      response.writeHead(status).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/credentials?id=1`;
    return { url, seen, close: () => new Promise((resolve) => server.close(resolve)) };
  }

  const given = JSON.stringify({ AccessKeyId: "AKECS", SecretAccessKey: "secret", Token: "token", Expiration: "x" });

  test("hands out credentials for the token that proves who asks", async () => {
    const server = await serve(200, given);
    try {
      const variables = { ...none(), AWS_CONTAINER_CREDENTIALS_FULL_URI: server.url };
      const credentials = await load(env({ ...variables, AWS_CONTAINER_AUTHORIZATION_TOKEN: "Bearer me" }));
      expect(credentials).toEqual({ accessKeyId: "AKECS", secretAccessKey: "secret", sessionToken: "token" });
      const tokenFile = join(folder, "token");
      writeFileSync(tokenFile, "from-a-file\n");
      await load(env({ ...variables, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile }));
      expect(server.seen.map(({ authorization }) => authorization)).toEqual(["Bearer me", "from-a-file"]);
    } finally {
      await server.close();
    }
  });

  test("is not asked when its token file is a directory, which is an error that names it", async () => {
    const server = await serve(200, given);
    try {
      const variables = { ...none(), AWS_CONTAINER_CREDENTIALS_FULL_URI: server.url };
      const loading = load(env({ ...variables, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: folder }));
      await expect(loading).rejects.toMatchObject({
        name: "MissingCredentials",
        message: `AWS credentials could not be read from ${folder}: it is a directory, not a file.`,
      });
      expect(server.seen).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test("is not asked where a profile has keys or is named", async () => {
    const server = await serve(200, given);
    try {
      const endpoint = { AWS_CONTAINER_CREDENTIALS_FULL_URI: server.url };
      expect((await load(env({ ...files(), ...endpoint })))?.accessKeyId).toBe("AKDEFAULT");
      expect(await load(env({ ...files(), ...endpoint }), "nobody")).toBeUndefined();
      expect(server.seen).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test.each([
    ["an error status", 403, "no"],
    ["something that is not JSON", 200, "<html>"],
    ["an endless answer", 200, "x".repeat(100_000)],
  ])("that gives %s is an error that names it", async (_what, status, body) => {
    const server = await serve(status, body);
    try {
      const loading = load(env({ ...none(), AWS_CONTAINER_CREDENTIALS_FULL_URI: server.url }));
      await expect(loading).rejects.toMatchObject({
        name: "MissingCredentials",
        message: expect.stringContaining("127.0.0.1"),
      });
    } finally {
      await server.close();
    }
  });

  test.each(["http://example.com/creds", "http://169.254.170.2.example.com/", "ftp://127.0.0.1/", "not an address"])(
    "at %s is never asked",
    async (address) => {
      const loading = load(env({ ...none(), AWS_CONTAINER_CREDENTIALS_FULL_URI: address }));
      await expect(loading).rejects.toMatchObject({ name: "MissingCredentials" });
    },
  );
});
