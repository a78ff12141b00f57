import { createServer } from "node:http";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../../src/process/exit-codes.ts";
import {
  createModelWorkspace,
  createWorkspace,
  run,
  type RunOptions,
  temporaryDirectory,
  textReply,
  type Workspace,
} from "../kit.ts";

const fakeKey = "fake-key-for-tests-1234";
const interactive = { terminal: { input: true, err: true } };

const readStored = async ({ agentDir }: Workspace) =>
  JSON.parse(await readFile(join(agentDir, "auth.json"), "utf8")) as Record<string, { key?: string }>;

const getStatus = async (workspace: Workspace, env: Record<string, string> = {}) =>
  JSON.parse((await run(workspace, ["auth", "status", "--json"], { env })).out) as {
    provider: string;
    keys: object[];
  }[];

test("a key from standard input is stored, readable only by its owner, and used", async () => {
  const workspace = await createWorkspace();
  const { code, out } = await run(workspace, ["auth", "login", "openai"], { input: `${fakeKey}\n` });
  expect(code).toBe(exitCodes.done);
  expect(out).toContain("The key for openai is stored");
  expect(out).not.toContain(fakeKey);
  expect(await readStored(workspace)).toEqual({ openai: { type: "api_key", key: fakeKey } });
  expect((await stat(join(workspace.agentDir, "auth.json"))).mode & 0o077).toBe(0);
  expect((await run(workspace, ["models", "openai/", "--offline"])).out).toContain("openai/gpt");
});

test("a typed key is not shown, and is stored literally", async () => {
  const workspace = await createWorkspace();
  const key = "!fake$key-for-tests";
  const result = await run(workspace, ["auth", "login", "groq"], { ...interactive, input: `${key}\n` });
  expect(result.code).toBe(exitCodes.done);
  expect(result.err).toBe("Key for groq (not shown): \n");
  expect(result.out + result.err).not.toContain("fake$key");
  expect((await readStored(workspace))["groq"]?.key).toBe("$!fake$$key-for-tests");
});

test("text that cannot be a key, or an unknown provider, is a usage error and changes nothing", async () => {
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

test("without a provider the user chooses one, and a wrong answer changes nothing", async () => {
  const workspace = await createWorkspace();
  const result = await run(workspace, ["auth", "login"], { ...interactive, input: "none of these\n" });
  expect(result.code).toBe(exitCodes.failed);
  expect(result.err).toContain("Connect which provider?\n");
  expect(result.err).toMatch(/anthropic +Anthropic \(Claude Pro or Max\)/);
  expect(result.err).toContain("Nothing was changed.");
  const methods = await run(workspace, ["auth", "login", "anthropic"], { ...interactive, input: "\n" });
  expect(methods.err).toMatch(/1 {2}browser +In a browser on this machine\n {2}2 {2}paste .*\n {2}3 {2}key/);
});

test("a login with a wrong pasted code fails with an explanation, and keeps the stored key", async () => {
  const workspace = await createWorkspace();
  await run(workspace, ["auth", "login", "anthropic"], { input: fakeKey });
  const result = await run(workspace, ["auth", "login", "anthropic", "--method", "paste"], {
    ...interactive,
    input: "code#wrong-state\n",
  });
  expect(result.code).toBe(exitCodes.failed);
  expect(result.err).toContain("Open this in a browser:\n  https://claude.ai/oauth/authorize?");
  expect(result.err).toMatch(/\ntau auth: [^\n]+\n$/);
  expect((await readStored(workspace))["anthropic"]?.key).toBe(fakeKey);
});

test("an unsupported login method is answered with the supported ones", async () => {
  const result = await run(await createWorkspace(), ["auth", "login", "anthropic", "--method", "device"], {
    input: "",
  });
  expect(result).toMatchObject({ code: exitCodes.failed, err: expect.stringContaining("Use one of: browser, paste") });
});

test("status shows where each key comes from, in order of precedence, and never the key", async () => {
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

test("status lists the keys of apiKeys before others, by their last four characters", async () => {
  const workspace = await createWorkspace();
  await run(workspace, ["auth", "login", "openai"], { input: fakeKey });
  const apiKeys = {
    openai: ["fake-first-key-1111", "fake-second-key-2222", "short", "$OTHER_KEY"],
    groq: ["!print-secret"],
  };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify({ apiKeys }));
  const { out } = await run(workspace, ["auth", "status"]);
  expect(out).toMatch(/^openai +apiKeys \(…1111, …2222, …, in \$OTHER_KEY\) +auth\.json, a key$/m);
  expect(out).toMatch(/^groq +apiKeys \(from a command\)$/m);
  for (const secret of ["first", "short", "print-secret"]) expect(out).not.toContain(secret);
});

test("status shows when a login expires, without its tokens, and accepts an invalid time", async () => {
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

test("logout asks, removes the stored key, and fails if there is none", async () => {
  const workspace = await createWorkspace();
  await run(workspace, ["auth", "login", "openai"], { input: fakeKey });
  expect((await run(workspace, ["auth", "logout", "openai"], { input: "" })).code).toBe(exitCodes.usage);
  expect((await run(workspace, ["auth", "logout", "openai"], { ...interactive, input: "no\n" })).code).toBe(
    exitCodes.failed,
  );
  expect((await run(workspace, ["auth", "logout", "openai"], { ...interactive, input: "" })).code).toBe(
    exitCodes.interrupted,
  );
  expect(await getStatus(workspace)).toHaveLength(1);
  expect((await run(workspace, ["auth", "logout", "openai"], { ...interactive, input: "y\n" })).code).toBe(
    exitCodes.done,
  );
  expect(await readStored(workspace)).toEqual({});
  expect(await run(workspace, ["auth", "logout", "openai", "--yes"])).toMatchObject({
    code: exitCodes.failed,
    err: expect.stringContaining("No key or login is stored for openai."),
  });
});

test("a damaged auth.json is reported with its path, and an unwritable directory fails in one line", async () => {
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

test("models asks local servers, lists the usable models, and searches by parts of the name", async () => {
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

test("no server is contacted at startup, and with --offline none for models either", async () => {
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

test("models without any key says how to connect one", async () => {
  const { code, err } = await run(await createWorkspace(), ["models", "--offline"]);
  expect(code).toBe(exitCodes.failed);
  expect(err).toContain("tau auth login");
});

function createChain() {
  const secrets = new Map<string, string>();
  const keyChain: NonNullable<RunOptions["keyChain"]> = {
    get: async (service, account) => secrets.get(`${service} ${account}`),
    set: async (service, account, secret) => void secrets.set(`${service} ${account}`, secret),
    delete: async (service, account) => void secrets.delete(`${service} ${account}`),
  };
  return { secrets, keyChain };
}

test("keys move to the key chain and back, and every command says where they are", async () => {
  const workspace = await createWorkspace();
  const { secrets, keyChain } = createChain();
  const tau = (args: string[], input?: string) =>
    run(workspace, args, { keyChain, ...(input !== undefined && { input }) });
  await tau(["auth", "login", "openai"], fakeKey);
  expect(await tau(["auth", "move", "keychain"])).toMatchObject({ code: 0, out: expect.stringContaining("openai") });
  expect((await tau(["config", "get", "auth.store"])).out).toBe("keychain\n");
  expect((await tau(["auth", "login", "groq"], fakeKey)).out).toContain("stored in the key chain");
  expect(JSON.stringify(await readStored(workspace))).not.toContain(fakeKey);
  expect(secrets.size).toBe(2);
  expect((await tau(["auth", "status"])).out).toMatch(/groq +key chain, a key\nopenai +key chain, a key/);
  const locked = { ...keyChain, get: () => Promise.reject(new Error("locked")) };
  const { out } = await run(workspace, ["auth", "status"], { keyChain: locked });
  expect(out).toMatch(/openai +key chain, which cannot be read now/);
  const doctor = JSON.parse((await run(workspace, ["doctor", "--json"], { keyChain: locked })).out) as object[];
  expect(doctor).toContainEqual(expect.objectContaining({ check: "keys", status: "warn" }));
  expect((await tau(["auth", "logout", "groq", "--yes"])).out).toContain("removed from key chain");
  expect(secrets.size).toBe(1);
  expect((await tau(["auth", "move", "file"])).out).toContain("Moved: openai. Keys and logins are stored in auth.json");
  expect(secrets.size).toBe(0);
  expect(await readStored(workspace)).toEqual({ openai: { type: "api_key", key: fakeKey } });
  expect((await tau(["auth", "status"])).out).toMatch(/openai +auth\.json, a key/);
  expect((await tau(["auth", "move", "cloud"])).code).toBe(exitCodes.usage);
});

test("a key chain that does not work changes nothing, and the reason is told", async () => {
  const workspace = await createWorkspace();
  const keyChain = { ...createChain().keyChain, set: () => Promise.reject(new Error("No Secret Service is running")) };
  await run(workspace, ["auth", "login", "openai"], { input: fakeKey });
  const { code, err } = await run(workspace, ["auth", "move", "keychain"], { keyChain });
  expect(code).toBe(exitCodes.failed);
  expect(err).toContain("cannot be used: No Secret Service is running.");
  expect(await readStored(workspace)).toEqual({ openai: { type: "api_key", key: fakeKey } });
  expect((await run(workspace, ["config", "get", "auth.store"])).out).toBe("file\n");
});

test("a login that the key chain refuses names the command that stores keys in the file", async () => {
  const workspace = await createWorkspace();
  const keyChain = { ...createChain().keyChain, set: () => Promise.reject(new Error("No Secret Service is running")) };
  await run(workspace, ["config", "set", "auth.store", "keychain"]);
  const login = () => run(workspace, ["auth", "login", "openai"], { keyChain, input: fakeKey });
  const { code, err } = await login();
  expect({ code, err }).toEqual({ code: exitCodes.failed, err: expect.stringContaining("tau auth move file") });
  expect(await run(workspace, ["auth", "move", "file"], { keyChain })).toMatchObject({ code: 0 });
  expect(await login()).toMatchObject({ code: 0 });
  expect(await readStored(workspace)).toEqual({ openai: { type: "api_key", key: fakeKey } });
});

test("a key that is stored for a provider of one's own is sent to its address, and to no other", async () => {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  const file = join(workspace.agentDir, "models.json");
  const { providers } = JSON.parse(await readFile(file, "utf8")) as { providers: { acme: { apiKey?: string } } };
  delete providers.acme.apiKey;
  await writeFile(file, JSON.stringify({ providers }));
  await run(workspace, ["auth", "login", "acme"], { input: fakeKey });
  expect(await run(workspace, ["-p", "Hi"])).toEqual({ code: 0, out: "Hello.\n", err: "" });
  expect(workspace.server.requests[0]!.headers["authorization"]).toBe(`Bearer ${fakeKey}`);
  // The key of a provider that tau knows stays bound to the hosts of that provider.
  await writeFile(file, JSON.stringify({ providers: { openai: { baseUrl: workspace.server.url } } }));
  await run(workspace, ["auth", "login", "openai"], { input: fakeKey });
  const { code } = await run(workspace, ["-p", "Hi", "--model", "openai/gpt-4o"]);
  expect([code === 0, workspace.server.requests.length]).toEqual([false, 1]);
});

test("a damaged auth.json is named with its line by every command that needs a key", async () => {
  const workspace = await createModelWorkspace([textReply("Hello.")]);
  const file = join(workspace.agentDir, "auth.json");
  await writeFile(file, '{\n  "openai": { "type": "api_key", "key": "x" \n', { mode: 0o600 });
  const named = new RegExp(`^tau: ${file} is damaged: line \\d+ is not valid JSON`, "m");
  for (const args of [
    ["-p", "Hi"],
    ["models", "--offline"],
    ["auth", "status"],
    ["auth", "login", "openai"],
  ]) {
    expect((await run(workspace, args, { input: "some-key-12345" })).err, args.join(" ")).toMatch(named);
  }
  // Also where no model is left to use.
  await writeFile(join(workspace.agentDir, "models.json"), "{}");
  await writeFile(join(workspace.agentDir, "settings.json"), "{}");
  const { code, err } = await run(workspace, ["-p", "Hi"]);
  expect({ code, err }).toEqual({ code: exitCodes.failed, err: expect.stringMatching(named) });
});

test("no key is stored with a mistake in the setting that says where", async () => {
  const workspace = await createWorkspace();
  await mkdir(workspace.agentDir, { mode: 0o700 });
  await writeFile(join(workspace.agentDir, "settings.json"), '{ "auth": { "store": "keychian" } }');
  const { code, err } = await run(workspace, ["auth", "login", "openai"], { input: fakeKey });
  expect({ code, err }).toEqual({ code: exitCodes.usage, err: expect.stringContaining('"keychain"') });
  await expect(stat(join(workspace.agentDir, "auth.json"))).rejects.toThrow("ENOENT");
});
