/** Whether requests have a key, and printing it for scripts. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OAuthProvider } from "@tau/config/auth";
import { expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createWorkspace, run, type RunOptions, type Workspace } from "../kit.ts";

const fakeKey = "fake-key-for-tests-1234";
const hour = 3_600_000;

async function createWithStored(stored: object): Promise<Workspace> {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir, { recursive: true, mode: 0o700 });
  await writeFile(join(workspace.agentDir, "auth.json"), JSON.stringify(stored), { mode: 0o600 });
  return workspace;
}

/** Renews each token for an hour. */
async function startServer() {
  let count = 0;
  const server = createServer((_request, response) => {
    count++;
    response.end(JSON.stringify({ access_token: `access-${count}`, refresh_token: "next", expires_in: 3_600 }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const tokenUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const provider: OAuthProvider = {
    id: "anthropic",
    name: "Anthropic",
    clientId: "test",
    scopes: [],
    tokenUrl,
    device: { dialect: "standard", startUrl: tokenUrl },
  };
  return { oauthProviders: [provider], getCount: () => count };
}

const login = (expiresInMs: number) => ({
  anthropic: { type: "oauth", access: "access-0", refresh: "first", expires: Date.now() + expiresInMs },
});

test("check reports ready, not_ready and invalid by its output and its exit code", async () => {
  const workspace = await createWithStored({
    openai: { type: "api_key", key: fakeKey },
    groq: { type: "api_key", key: 7 },
  });
  const check = async (...args: string[]) => {
    const { code, out, err } = await run(workspace, ["auth", "check", ...args]);
    expect(out + err).not.toContain(fakeKey);
    return [code, out.trim()];
  };
  expect(await check("--provider", "openai")).toEqual([0, "ready"]);
  expect(await check("--provider", "openai", "--json")).toEqual([
    0,
    '{"status":"ready","provider":"openai","authType":"api_key"}',
  ]);
  expect(await check("--model", "openai/gpt-6-sol")).toEqual([0, "ready"]);
  expect(await check("--provider", "mistral", "--json")).toEqual([
    1,
    '{"status":"not_ready","provider":"mistral","reason":"credentials_not_configured"}',
  ]);
  expect(await check("--provider", "opanai", "--json")).toEqual([
    2,
    '{"status":"invalid","provider":"opanai","reason":"provider_not_found"}',
  ]);
  expect(await check("--provider", "groq", "--json")).toEqual([
    2,
    '{"status":"invalid","provider":"groq","reason":"invalid_state"}',
  ]);
  expect(await run(workspace, ["auth", "check"])).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringContaining("--provider NAME"),
  });
});

test("check shows the key only when it is asked to, and print-api-key shows it alone", async () => {
  const workspace = await createWithStored({ openai: { type: "api_key", key: fakeKey } });
  const runAuth = async (...args: string[]) => (await run(workspace, ["auth", ...args])).out;
  expect(await runAuth("check", "--provider", "openai", "--credentials")).toBe(`ready\n${fakeKey}\n`);
  expect(JSON.parse(await runAuth("check", "--provider", "openai", "--credentials", "--json"))).toMatchObject({
    credential: fakeKey,
  });
  expect(await runAuth("print-api-key", "--provider", "openai")).toBe(`${fakeKey}\n`);
  const token = await run(workspace, ["auth", "print-bearer-token", "--provider", "openai"]);
  expect(token).toMatchObject({ code: exitCodes.failed, out: "", err: expect.stringContaining("print-api-key") });
});

test("a token is printed, and renewed if it is not valid for long enough", async () => {
  const { getCount, ...options } = await startServer();
  const print = async (expiresInMs: number, args: string[], more: RunOptions = {}) => {
    const workspace = await createWithStored(login(expiresInMs));
    const all = ["auth", "print-bearer-token", "--provider", "anthropic", ...args];
    const { code, out, err } = await run(workspace, all, { ...options, ...more });
    return { code, out, err, stored: await readFile(join(workspace.agentDir, "auth.json"), "utf8") };
  };
  expect(await print(hour / 2, [])).toMatchObject({ code: 0, out: "access-0\n" });
  expect(await print(hour / 2, ["--min-expiry", "10m"])).toMatchObject({ code: 0, out: "access-0\n" });
  expect(getCount()).toBe(0);
  const renewed = await print(hour / 2, ["--min-expiry", "45m"]);
  expect(renewed).toMatchObject({ code: 0, out: "access-1\n" });
  expect(renewed.stored).toContain('"next"');
  expect(await print(-1, [])).toMatchObject({ code: 0, out: "access-2\n" });
  expect(await print(-1, ["--no-refresh"])).toMatchObject({ code: exitCodes.failed, out: "" });
  expect(await print(60_000, ["--no-refresh"])).toMatchObject({ code: 0, out: "access-0\n" });
  expect(getCount()).toBe(2);
  expect(await print(hour, ["--min-expiry", "2h"])).toMatchObject({
    code: exitCodes.failed,
    out: "",
    err: expect.stringContaining("expires before that"),
  });
  expect(await print(hour, ["--min-expiry", "soon"])).toMatchObject({ code: exitCodes.usage, out: "" });
  const key = await run(
    await createWithStored(login(hour)),
    ["auth", "print-api-key", "--provider", "anthropic"],
    options,
  );
  expect(key).toMatchObject({ code: exitCodes.failed, out: "", err: expect.stringContaining("print-bearer-token") });
});
