import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createWorkspace, run } from "./kit.ts";

test("a session uses Bedrock with the credentials of a profile, and without any says what to set", async () => {
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    response.writeHead(403, { "content-type": "application/json" }).end('{"message":"not today"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const workspace = await createWorkspace();
  await mkdir(join(workspace.directory, ".aws"), { recursive: true });
  await mkdir(workspace.agentDir, { recursive: true, mode: 0o700 });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const providers = { "amazon-bedrock": { baseUrl } };
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers }));
  const keys = { Version: 1, AccessKeyId: "AKPROC", SecretAccessKey: "s", Expiration: "2100-01-01T00:00:00Z" };
  const config = join(workspace.directory, ".aws", "config");
  await writeFile(config, `[profile work]\ncredential_process = printf '%s' '${JSON.stringify(keys)}'\n`);
  vi.stubEnv("AWS_CONFIG_FILE", config);
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_PROFILE", "work");
  onTestFinished(() => void vi.unstubAllEnvs());
  const args = ["-p", "--model", "amazon-bedrock/us.anthropic.claude-opus-4-6-v1", "Hi"];
  const refused = await run(workspace, args);
  expect(refused.err).toContain("not today");
  expect(authorizations[0]).toMatch(/^AWS4-HMAC-SHA256 Credential=AKPROC\//);
  vi.stubEnv("AWS_PROFILE", "nobody");
  expect((await run(workspace, args)).err).toContain('The AWS profile "nobody" has no credentials');
});
