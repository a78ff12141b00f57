import { createServer } from "node:http";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../../src/exit-codes.ts";
import { createWorkspace, run, temporaryDirectory, type Workspace } from "../kit.ts";

const fakeKey = "fake-key-for-tests-1234";
const person = { terminal: { input: true, err: true } };

const stored = async ({ agentDir }: Workspace) =>
  JSON.parse(await readFile(join(agentDir, "auth.json"), "utf8")) as Record<string, { key?: string }>;

const getStatus = async (workspace: Workspace, env: Record<string, string> = {}) =>
  JSON.parse((await run(workspace, ["auth", "status", "--json"], { env })).out) as {
    provider: string;
    keys: object[];
  }[];

test("a key from standard input is stored for its owner alone, and is used", async () => {
  const workspace = await createWorkspace();
  const { code, out } = await run(workspace, ["auth", "login", "openai"], { input: `${fakeKey}\n` });
  expect(code).toBe(exitCodes.done);
  expect(out).toContain("The key for openai is stored");
  expect(out).not.toContain(fakeKey);
  expect(await stored(workspace)).toEqual({ openai: { type: "api_key", key: fakeKey } });
  expect((await stat(join(workspace.agentDir, "auth.json"))).mode & 0o077).toBe(0);
  expect((await run(workspace, ["models", "openai/", "--offline"])).out).toContain("openai/gpt");
});

test("a key that is typed is not shown, and is taken as it is", async () => {
  const workspace = await createWorkspace();
  const key = "!fake$key-for-tests";
  const ran = await run(workspace, ["auth", "login", "openai"], { ...person, input: `${key}\n` });
  expect(ran.code).toBe(exitCodes.done);
  expect(ran.err).toBe("Key for openai (not shown): \n");
  expect(ran.out + ran.err).not.toContain("fake$key");
  expect((await stored(workspace))["openai"]?.key).toBe("$!fake$$key-for-tests");
});

test("what is no key, or for nobody, is a usage error and changes nothing", async () => {
  const workspace = await createWorkspace();
  for (const input of ["", "  \n", "two words\n"]) {
    expect((await run(workspace, ["auth", "login", "openai"], { input })).code).toBe(exitCodes.usage);
  }
  expect(await run(workspace, ["auth", "login", "opanai"], { input: fakeKey })).toMatchObject({
    code: exitCodes.usage,
    err: expect.stringContaining('There is no provider "opanai". Did you mean "openai"'),
  });
  expect((await run(workspace, ["auth", "login"], { input: fakeKey })).err).toContain("PROVIDER is missing");
  await expect(stat(join(workspace.agentDir, "auth.json"))).rejects.toThrow("ENOENT");
});

test("without a provider a person chooses one; giving up changes nothing", async () => {
  const workspace = await createWorkspace();
  const ran = await run(workspace, ["auth", "login"], { ...person, input: "none of these\n" });
  expect(ran.code).toBe(exitCodes.failed);
  expect(ran.err).toContain("Connect which provider?\n");
  expect(ran.err).toMatch(/anthropic +Anthropic \(Claude Pro or Max\)/);
  expect(ran.err).toContain("Nothing was changed.");
  const ways = await run(workspace, ["auth", "login", "anthropic"], { ...person, input: "\n" });
  expect(ways.err).toMatch(/1 {2}browser +In a browser on this machine\n {2}2 {2}paste .*\n {2}3 {2}key/);
});

test("a login that was pasted wrongly fails in words, and what was stored stays", async () => {
  const workspace = await createWorkspace();
  await run(workspace, ["auth", "login", "anthropic"], { input: fakeKey });
  const ran = await run(workspace, ["auth", "login", "anthropic", "--method", "paste"], {
    ...person,
    input: "code#wrong-state\n",
  });
  expect(ran.code).toBe(exitCodes.failed);
  expect(ran.err).toContain("Open this in a browser:\n  https://claude.ai/oauth/authorize?");
  expect(ran.err).toMatch(/\ntau auth: [^\n]+\n$/);
  expect((await stored(workspace))["anthropic"]?.key).toBe(fakeKey);
});

test("a way to log in that the provider does not have names those that it has", async () => {
  const ran = await run(await createWorkspace(), ["auth", "login", "anthropic", "--method", "device"], { input: "" });
  expect(ran).toMatchObject({ code: exitCodes.failed, err: expect.stringContaining("Use one of: browser, paste") });
});

test("status says where each key comes from, in the order in which they count, and never the key", async () => {
  const workspace = await createWorkspace();
  await run(workspace, ["auth", "login", "openai"], { input: fakeKey });
  const acme = {
    baseUrl: "http://127.0.0.1:1",
    api: "openai-completions",
    apiKey: "!print-secret",
    models: [{ id: "m" }],
  };
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  const env = { OPENAI_API_KEY: "fake-env-key-1234", GROQ_API_KEY: "fake-env-key-5678" };
  const { code, out } = await run(workspace, ["auth", "status"], { env });
  expect(code).toBe(exitCodes.done);
  expect(out).toMatch(/^openai +auth\.json, a key +\$OPENAI_API_KEY$/m);
  expect(out).toMatch(/^groq +\$GROQ_API_KEY$/m);
  expect(out).toMatch(/^acme +models\.json from a command$/m);
  for (const secret of [fakeKey, "fake-env-key", "print-secret"]) expect(out).not.toContain(secret);
  expect((await getStatus(workspace, env)).map(({ provider }) => provider)).toEqual(["acme", "groq", "openai"]);
  expect((await run(await createWorkspace(), ["auth", "status"])).err).toContain("There is no key yet.");
});

test("a login says until when it is good, without its tokens, also where that is no date", async () => {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir, { mode: 0o700 });
  const login = (expires: number) => ({ type: "oauth", access: "fake-access", refresh: "fake-refresh", expires });
  const entries = { anthropic: login(Date.UTC(2030, 0, 1)), "openai-codex": login(1e300) };
  await writeFile(join(workspace.agentDir, "auth.json"), JSON.stringify(entries), { mode: 0o600 });
  const { out } = await run(workspace, ["auth", "status"]);
  expect(out).toMatch(/^anthropic +auth\.json, login, renewed after 2030-01-01T00:00:00\.000Z$/m);
  expect(out).toMatch(/^openai-codex +auth\.json, login$/m);
  expect(out).not.toContain("fake-");
});

test("logout forgets what is stored, asks first, and says when there is nothing", async () => {
  const workspace = await createWorkspace();
  await run(workspace, ["auth", "login", "openai"], { input: fakeKey });
  expect((await run(workspace, ["auth", "logout", "openai"], { input: "" })).code).toBe(exitCodes.usage);
  expect((await run(workspace, ["auth", "logout", "openai"], { ...person, input: "no\n" })).code).toBe(
    exitCodes.failed,
  );
  expect((await run(workspace, ["auth", "logout", "openai"], { ...person, input: "" })).code).toBe(
    exitCodes.interrupted,
  );
  expect(await getStatus(workspace)).toHaveLength(1);
  expect((await run(workspace, ["auth", "logout", "openai"], { ...person, input: "y\n" })).code).toBe(exitCodes.done);
  expect(await stored(workspace)).toEqual({});
  expect(await run(workspace, ["auth", "logout", "openai", "--yes"])).toMatchObject({
    code: exitCodes.failed,
    err: expect.stringContaining("No key or login is stored for openai."),
  });
});

test("a damaged auth.json is told with its file, and an unwritable place fails in one line", async () => {
  const workspace = await createWorkspace();
  await run(workspace, ["auth", "login", "openai"], { input: fakeKey });
  await writeFile(join(workspace.agentDir, "auth.json"), '{"openai": ');
  const { code, err } = await run(workspace, ["auth", "status"]);
  expect(code).toBe(exitCodes.done);
  expect(err).toContain("auth.json");
  const agentDir = join(await temporaryDirectory(), "a-file");
  await writeFile(agentDir, "");
  const failed = await run({ ...workspace, agentDir }, ["auth", "login", "openai"], { input: fakeKey });
  expect(failed.code).toBe(exitCodes.failed);
  expect(failed.err.trimEnd().split("\n").at(-1)).toMatch(/^tau auth: .*a-file/);
  expect(failed.err).not.toContain(fakeKey);
});

test("models asks a local server what it serves, lists what can be used, and finds by any part of the name", async () => {
  const workspace = await createWorkspace();
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "list", data: [{ id: "tiny-local", object: "model" }] }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  await run(workspace, ["auth", "login", "openai"], { input: fakeKey });
  const vllm = { baseUrl: `http://127.0.0.1:${port}/v1` };
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers: { vllm } }));
  const all = (await run(workspace, ["models"])).out;
  expect(all).toMatch(/^openai\/gpt-\S+ +\d+k/m);
  expect(all).toContain("vllm/tiny-local");
  expect(all).not.toContain("anthropic/");
  expect((await run(workspace, ["models", "tiny vllm"])).out.trimEnd().split("\n")).toHaveLength(2);
  expect((await run(workspace, ["models", "claude", "--all", "--offline"])).out).toMatch(
    /^anthropic\/claude\S+ .* no$/m,
  );
  const json = JSON.parse((await run(workspace, ["models", "tiny", "--json"])).out) as object[];
  expect(json).toMatchObject([{ provider: "vllm", id: "tiny-local", usable: true }]);
  expect(await run(workspace, ["models", "no-such-model", "--offline"])).toMatchObject({
    code: exitCodes.failed,
    out: "",
  });
});

test("nobody is asked at start, and with --offline nobody is asked for models either", async () => {
  const workspace = await createWorkspace();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end(JSON.stringify({ object: "list", data: [] }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`;
  await mkdir(workspace.agentDir, { mode: 0o700 });
  const providers = Object.fromEntries(["ollama", "lmstudio", "llamacpp", "vllm"].map((name) => [name, { baseUrl }]));
  await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify({ providers }));
  const state = `${JSON.stringify({ id: "1", type: "get_state" })}\n`;
  expect((await run(workspace, ["--mode", "rpc"], { input: state })).out).toContain('"success":true');
  for (const args of [["models", "--offline"], ["--list-models", "--offline"], ["doctor"], ["auth", "status"]]) {
    await run(workspace, args);
  }
  expect(asked).toEqual([]);
  await run(workspace, ["--list-models"]);
  expect(asked).toEqual(Array.from({ length: 4 }, () => "/v1/models"));
});

test("models without any key: the lines that say how to connect one", async () => {
  const { code, err } = await run(await createWorkspace(), ["models", "--offline"]);
  expect(code).toBe(exitCodes.failed);
  expect(err).toContain("tau auth login");
});
