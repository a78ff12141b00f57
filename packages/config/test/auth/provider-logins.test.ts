/** The logins of single providers, with their own data and addresses on this machine. */
import { createHash } from "node:crypto";
import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { literalKey } from "../../src/auth/key-value.ts";
import { oauthProviders } from "../../src/auth/oauth-providers.ts";
import { ModelRegistry } from "../../src/models/index.ts";
import { person, setup, visit } from "./kit.ts";
import { type Answers, localProvider, passTime, serve } from "./provider-kit.ts";

const device = (path: string, polls: readonly string[], granted: object): Answers => {
  const rest = [...polls];
  return {
    [path]: () => ({
      body: { device_code: "dev", user_code: "AB-12", verification_uri: "https://x.example/device", interval: 5 },
    }),
    "/token": () => {
      const next = rest.shift();
      return next === undefined ? { body: granted } : { body: { error: next, interval: 9 } };
    },
  };
};

const nowSeconds = (clock: { now(): number }) => Math.floor(clock.now() / 1000);

/** GitHub, with the exchange and the models of Copilot at the same host. */
async function startGitHub(polls: readonly string[], clock: ReturnType<typeof createFakeClock>) {
  let count = 0;
  const server = await serve({});
  const login = device("/login/device/code", polls, { access_token: "ghu_1", token_type: "bearer" });
  Object.assign(server.answers, {
    "/login/device/code": login["/login/device/code"]!,
    "/login/oauth/access_token": login["/token"]!,
    "/copilot_internal/v2/token": () => ({
      body: {
        token: `tid=${++count}`,
        expires_at: nowSeconds(clock) + 1_500,
        endpoints: { api: `http://${server.host}` },
      },
    }),
    "/models": () => ({ body: { data: [{ id: "gpt-6.1-sol" }, { id: "unknown-model" }] } }),
  } satisfies Answers);
  return server;
}

async function logInToCopilot(polls: readonly string[], typed?: string) {
  const clock = createFakeClock();
  const server = await startGitHub(polls, clock);
  const kit = setup({ clock, oauthProviders: [localProvider("github-copilot", server.host)] });
  const { events, interaction } = person(() => undefined);
  const questions: string[] = [];
  const ask = async ({ message }: { message: string }) => {
    questions.push(message);
    return typed ?? server.host;
  };
  const work = kit.storage.login("github-copilot", { ...interaction, ask });
  const outcome = await passTime(work, clock, () => events.length > 0);
  return { clock, server, outcome, events, questions, ...kit };
}

test("GitHub Copilot: a code for a server of its own, the exchanged token, its address and its models", async () => {
  const { server, outcome, read, questions, storage } = await logInToCopilot(["authorization_pending", "slow_down"]);
  expect(outcome).toEqual({ kind: "done" });
  expect(questions[0]).toMatch(/^Host of GitHub Enterprise, such as company.ghe.com \(empty for localhost:/);
  expect(server.seen.map(({ path, authorization }) => [path, authorization])).toEqual([
    ["/login/device/code", undefined],
    ["/login/oauth/access_token", undefined],
    ["/login/oauth/access_token", undefined],
    ["/login/oauth/access_token", undefined],
    ["/copilot_internal/v2/token", "Bearer ghu_1"],
    ["/models", "Bearer tid=1"],
  ]);
  expect(server.seen.at(-1)?.headers["editor-version"]).toMatch(/^vscode\//);
  expect(read()["github-copilot"]).toMatchObject({
    type: "oauth",
    access: "tid=1",
    refresh: "ghu_1",
    host: server.host,
    domain: server.host,
    serves: { baseUrl: `http://${server.host}`, ids: ["gpt-6.1-sol", "unknown-model"] },
  });
  const sent = await storage.getApiKey("github-copilot", { host: `http://${server.host}` });
  expect(sent).toMatchObject({ kind: "found", key: "tid=1" });
  const elsewhere = await storage.getApiKey("github-copilot", { host: "https://api.individual.githubcopilot.com" });
  expect(elsewhere).toMatchObject({ kind: "none", isRefused: true });
});

test("GitHub Copilot: an expired token is exchanged again, and models are asked for once a day", async () => {
  const { clock, server, storage } = await logInToCopilot([]);
  const getKey = async () => {
    const outcome = await storage.getApiKey("github-copilot");
    return outcome.kind === "found" ? outcome.key : outcome;
  };
  server.seen.length = 0;
  expect(await getKey()).toBe("tid=1");
  await clock.advance(1_400_000);
  expect(await getKey()).toBe("tid=2");
  expect(server.seen.map(({ path }) => path)).toEqual(["/copilot_internal/v2/token"]);
  await clock.advance(24 * 3_600_000);
  expect(await getKey()).toBe("tid=3");
  expect(server.seen.slice(1).map(({ path }) => path)).toEqual(["/copilot_internal/v2/token", "/models"]);
  server.answers["/copilot_internal/v2/token"] = () => ({ status: 401, body: {} });
  await clock.advance(1_600_000);
  expect(await getKey()).toMatchObject({ kind: "failed", failure: { kind: "login_required" } });
});

test.each([
  ["access_denied", "denied"],
  ["expired_token", "expired"],
])("GitHub Copilot: %s ends the login as %s, and nothing is stored", async (error, kind) => {
  const { outcome, storage } = await logInToCopilot(["authorization_pending", error]);
  expect(outcome).toMatchObject({ failure: { kind } });
  expect(await storage.list()).toEqual([]);
});

test("GitHub Copilot: text that is no host ends the login before anything is asked", async () => {
  const { outcome, server } = await logInToCopilot([], "not a host");
  expect(outcome).toMatchObject({ failure: { kind: "unsupported" } });
  expect(server.seen).toEqual([]);
});

test("the models of GitHub Copilot are those of the login, at its address", async () => {
  const { server, storage } = await logInToCopilot([]);
  const served = new Map((await storage.list()).map((info) => [info.provider, info.serves]));
  const registry = ModelRegistry.inMemory({ hasKey: () => true, getServed: (provider) => served.get(provider) });
  const models = registry.getAvailable().filter(({ provider }) => provider === "github-copilot");
  expect(models.map(({ id, baseUrl }) => [id, baseUrl])).toEqual([["gpt-6.1-sol", `http://${server.host}`]]);
  expect(registry.find("github-copilot", "gpt-6.1-sol")).toBe(models[0]);
  // One that is not in the list can be named, and is asked for at the same address.
  expect(registry.find("github-copilot", "claude-haiku-4.5")?.baseUrl).toBe(`http://${server.host}`);
});

test("a login under openai serves the models that the Codex backend has, there", async () => {
  const { storage, write } = setup();
  write({ openai: { type: "oauth", access: "a", refresh: "r", expires: Date.now() + 3_600_000 } });
  const served = new Map((await storage.list()).map((info) => [info.provider, info.serves]));
  const registry = ModelRegistry.inMemory({ hasKey: () => true, getServed: (provider) => served.get(provider) });
  const list = (provider: string) => registry.getAll().filter((model) => model.provider === provider);
  const [openai, codex] = [list("openai"), list("openai-codex")];
  expect(codex).toHaveLength(8);
  expect(openai.length).toBeGreaterThan(0);
  for (const model of openai) {
    const other = codex.find(({ id }) => id === model.id);
    expect(model).toEqual({ ...other, provider: "openai" });
  }
  const host = openai[0]!.baseUrl;
  expect(await storage.getApiKey("openai", { host })).toMatchObject({ kind: "found", key: "a" });
  expect(await storage.getApiKey("openai", { host: "https://api.openai.com/v1" })).toMatchObject({ isRefused: true });
  storage.setRuntimeApiKey("openai", "sk-1");
  expect((await storage.list()).find(({ provider }) => provider === "openai")?.serves).toBeUndefined();
});

test.each([
  ["kimi-coding", "/api/oauth/device_authorization", "/api/oauth/token", undefined],
  ["xai", "/oauth2/device/code", "/oauth2/token", "openid profile email offline_access grok-cli:access api:access"],
])("%s: a device code, a slow server, a renewed token and a refusal", async (id, startPath, tokenPath, scope) => {
  const clock = createFakeClock();
  const polls = ["authorization_pending", "slow_down"];
  const server = await serve({});
  const login = device(startPath, polls, { access_token: "one", refresh_token: "first", expires_in: 900 });
  Object.assign(server.answers, { [startPath]: login[startPath], [tokenPath]: login["/token"] });
  const { storage } = setup({ clock, oauthProviders: [localProvider(id, server.host)] });
  const { events, interaction } = person(() => undefined);
  expect(await passTime(storage.login(id, interaction), clock, () => events.length > 0)).toEqual({ kind: "done" });
  const fields = server.seen.map(({ text }) => Object.fromEntries(new URLSearchParams(text)));
  const { clientId } = oauthProviders.find((provider) => provider.id === id)!;
  expect(fields[0]).toEqual({ client_id: clientId, ...(scope && { scope }) });
  expect(fields[1]).toMatchObject({ client_id: clientId, device_code: "dev" });
  server.answers[tokenPath] = () => ({ body: { access_token: "two", refresh_token: "second", expires_in: 900 } });
  await clock.advance(800_000);
  expect(await storage.getApiKey(id)).toMatchObject({ key: "two" });
  expect(Object.fromEntries(new URLSearchParams(server.seen.at(-1)!.text))).toMatchObject({ refresh_token: "first" });
  server.answers[tokenPath] = () => ({ status: 400, body: { error: "invalid_grant" } });
  await clock.advance(900_000);
  expect(await storage.getApiKey(id)).toMatchObject({ failure: { kind: "login_required" } });
  for (const [error, kind] of [
    ["access_denied", "denied"],
    ["expired_token", "expired"],
  ] as const) {
    server.answers[tokenPath] = () => ({ status: 400, body: { error } });
    events.length = 0;
    const refused = passTime(storage.login(id, interaction), clock, () => events.length > 0);
    expect(await refused).toMatchObject({ failure: { kind } });
  }
});

/** OpenRouter: the browser gives a code to the address that it is told, and the code is exchanged for a key. */
async function startOpenRouter(options: Parameters<typeof setup>[0] = {}) {
  const challenges = new Map<string, string>();
  const server = await serve({
    "/api/v1/auth/keys": ({ text }) => {
      const { code, code_verifier } = JSON.parse(text) as Record<string, string>;
      const challenge = createHash("sha256")
        .update(code_verifier ?? "")
        .digest("base64url");
      const isRight = challenges.get(code ?? "") === challenge;
      challenges.delete(code ?? "");
      return isRight ? { body: { key: "sk-or-$1", user_id: "u" } } : { status: 403, body: { error: "no" } };
    },
  });
  const approve = (address: string) => {
    const asked = new URL(address).searchParams;
    expect([...asked.keys()]).toEqual(["callback_url", "code_challenge", "code_challenge_method"]);
    const code = `code-${challenges.size}`;
    challenges.set(code, asked.get("code_challenge")!);
    const back = new URL(asked.get("callback_url")!);
    back.searchParams.set("code", code);
    return back;
  };
  const provider = localProvider("openrouter", server.host);
  const browser = { ...provider.browser!, redirect: { port: 0, path: "/callback" } };
  return { server, approve, ...setup({ ...options, oauthProviders: [{ ...provider, browser }] }) };
}

test("OpenRouter: the code is exchanged for a key, which is stored as a key", async () => {
  const { approve, storage, server } = await startOpenRouter();
  const statuses: number[] = [];
  const { interaction } = person((event) => {
    if (event.type !== "auth_url") throw new Error("no address");
    const back = approve(event.url);
    const guessed = new URL(back);
    guessed.pathname = "/callback/guessed";
    void (async () => {
      statuses.push((await visit(guessed.href)).status);
      await visit(back.href);
    })();
  });
  expect(await storage.login("openrouter", interaction)).toEqual({ kind: "done" });
  expect(statuses).toEqual([404]);
  expect(await storage.get("openrouter")).toEqual({ type: "api_key", key: literalKey("sk-or-$1") });
  expect(await storage.getApiKey("openrouter", { host: "openrouter.ai" })).toMatchObject({ key: "sk-or-$1" });
  expect(server.seen).toHaveLength(1);
});

test("OpenRouter: the address is pasted where no browser can reach this machine, and a used code is refused", async () => {
  const { approve, storage } = await startOpenRouter();
  let back = "";
  const { interaction } = person(
    (event) => (back ||= approve(event.type === "auth_url" ? event.url : "").href),
    async () => back,
  );
  expect(await storage.login("openrouter", interaction, { method: "paste" })).toEqual({ kind: "done" });
  const again = await storage.login("openrouter", interaction, { method: "paste" });
  expect(again).toMatchObject({ failure: { kind: "login_required" } });
});

test("OpenRouter: a refusal in the browser and a login that nobody finishes end it, and nothing is stored", async () => {
  const { approve, storage } = await startOpenRouter();
  const { interaction } = person((event) => {
    const back = approve(event.type === "auth_url" ? event.url : "");
    back.searchParams.delete("code");
    back.searchParams.set("error", "access_denied");
    void visit(back.href);
  });
  expect(await storage.login("openrouter", interaction)).toMatchObject({ failure: { kind: "denied" } });
  const clock = createFakeClock();
  const late = await startOpenRouter({ clock });
  const unfinished = late.storage.login("openrouter", person(() => undefined).interaction);
  await expect.poll(() => clock.waiting).toBe(1);
  await clock.advance(15 * 60_000);
  expect(await unfinished).toMatchObject({ failure: { kind: "expired" } });
  expect([...(await storage.list()), ...(await late.storage.list())]).toEqual([]);
});
