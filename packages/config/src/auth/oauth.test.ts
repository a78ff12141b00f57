import { expect, test } from "vitest";
import { deviceDialect } from "./device-dialects.ts";
import { createAuthorizeUrl } from "./login-browser.ts";
import { checkOAuthProvider, type OAuthProvider } from "./oauth-provider.ts";
import { oauthProviders } from "./oauth-providers.ts";
import { isDue, readTokens } from "./oauth-tokens.ts";
import { parseDomain, withDomain } from "./provider-domain.ts";
import { readModelIds } from "./served-models.ts";
import { readExchange } from "./token-exchange.ts";
import { toChallenge, isSameState, createAttempt } from "./pkce.ts";

const provider = (id: string): OAuthProvider => {
  const found = oauthProviders.find((each) => each.id === id);
  if (!found) throw new Error(`no ${id}`);
  return found;
};
const answer = (status: number, json?: Record<string, unknown>) => ({ kind: "answer" as const, status, json });

test("the built-in providers are valid", () => {
  for (const each of oauthProviders) expect(() => checkOAuthProvider(each)).not.toThrow();
  expect(oauthProviders.map(({ id }) => id)).toEqual([
    "anthropic",
    "openai",
    "openai-codex",
    "github-copilot",
    "kimi-coding",
    "openrouter",
    "xai",
  ]);
});

test("the authorize URL of Anthropic is as it expects", () => {
  const anthropic = provider("anthropic");
  const attempt = { state: "the-state", challenge: "the-challenge" };
  const url = new URL(
    createAuthorizeUrl(anthropic, anthropic.browser!, { attempt, redirectUrl: "http://localhost:1/callback" }),
  );
  expect(url.origin + url.pathname).toBe("https://claude.ai/oauth/authorize");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    code: "true",
    response_type: "code",
    client_id: anthropic.clientId,
    redirect_uri: "http://localhost:1/callback",
    scope: anthropic.scopes.join(" "),
    code_challenge: "the-challenge",
    code_challenge_method: "S256",
    state: "the-state",
  });
});

test("the challenge is as in the example of RFC 7636", () => {
  expect(toChallenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")).toBe(
    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  );
});

test("no two logins share a secret, and verifiers have the length that the standard requires", () => {
  const [a, b] = [createAttempt(), createAttempt()];
  expect(new Set([a.state, a.verifier, a.challenge, b.state, b.verifier, b.challenge]).size).toBe(6);
  expect(a.verifier).toMatch(/^[\w-]{43}$/);
  expect([isSameState(a.state, a.state), isSameState(a.state, b.state), isSameState("", a.state)]).toEqual([
    true,
    false,
    false,
  ]);
});

test("the id of a ChatGPT account is read from its token", () => {
  const claims = { "https://api.openai.com/auth": { chatgpt_account_id: "acc-1" } };
  const access_token = `x.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.y`;
  const read = (token: string) =>
    readTokens(answer(200, { access_token: token, refresh_token: "r", expires_in: 10 }), {
      provider: provider("openai-codex"),
      nowMs: 1_000,
    });
  const tokens = { access: access_token, refresh: "r", expires: 11_000, expires_in: 10 };
  expect(read(access_token)).toEqual({ kind: "tokens", tokens: { ...tokens, accountId: "acc-1" } });
  expect(read("not-a-jwt")).toMatchObject({ kind: "tokens", tokens: { access: "not-a-jwt" } });
});

test("without a new refresh token the old one is kept, and without a lifetime it is an hour", () => {
  const outcome = readTokens(answer(200, { access_token: "a" }), {
    provider: provider("anthropic"),
    nowMs: 0,
    refresh: "old",
  });
  expect(outcome).toEqual({
    kind: "tokens",
    tokens: { access: "a", refresh: "old", expires: 3_600_000, expires_in: 3_600 },
  });
});

test.each([
  [400, { error: "invalid_grant" }, "login_required"],
  [401, undefined, "login_required"],
  [400, { error: { code: "refresh_token_reused", message: "canary" } }, "login_required"],
  [400, { error: "invalid_request", error_description: "canary" }, "server"],
  [429, { error: "canary" }, "server"],
  [302, undefined, "server"],
])("a refusal with HTTP %i and %j is %s", (status, json, kind) => {
  const outcome = readTokens(answer(status, json), { provider: provider("anthropic"), nowMs: 0 });
  expect(outcome).toMatchObject({ failure: { kind } });
  expect(JSON.stringify(outcome)).not.toContain("canary");
});

test("a token is due five minutes before it expires, or after four fifths of a shorter lifetime", () => {
  const rows = [
    [{ expires: 1_000_000 }, 699_999, false],
    [{ expires: 1_000_000 }, 700_000, true],
    [{ expires: 1_000_000, expires_in: 100 }, 979_999, false],
    [{ expires: 1_000_000, expires_in: 100 }, 980_000, true],
  ] as const;
  for (const [token, now, due] of rows) expect([token, now, isDue(token, now)]).toEqual([token, now, due]);
});

test("a device login of OpenAI ends with a code that is exchanged", () => {
  const codex = provider("openai-codex");
  const dialect = deviceDialect(codex, codex.device!);
  expect(dialect.start()).toMatchObject({ format: "json", fields: { client_id: codex.clientId } });
  const started = dialect.readStart(answer(200, { device_auth_id: "d", user_code: "AB-12", interval: "7" }));
  expect(started).toMatchObject({ kind: "started", userCode: "AB-12", intervalMs: 7_000, lifetimeMs: 900_000 });
  if (started.kind === "failed") throw new Error("not started");
  expect(dialect.poll(started).fields).toEqual({ device_auth_id: "d", user_code: "AB-12" });
  expect(dialect.readPoll(answer(403), 0)).toEqual({ kind: "pending" });
  expect(dialect.readPoll(answer(404), 0)).toEqual({ kind: "pending" });
  expect(dialect.readPoll(answer(400, { error: { code: "slow_down" } }), 0)).toEqual({ kind: "slow_down" });
  expect(dialect.readPoll(answer(200, { authorization_code: "c", code_verifier: "v" }), 0)).toEqual({
    kind: "code",
    fields: { code: "c", code_verifier: "v", redirect_uri: "https://auth.openai.com/deviceauth/callback" },
  });
  expect(dialect.readPoll(answer(200, {}), 0)).toMatchObject({ kind: "failed" });
});

test.each([
  ["an address that a browser should not open", { verification_uri: "file:///etc/passwd" }],
  ["an address without encryption", { verification_uri: "http://example.com" }],
  ["a code that would paint the terminal", { user_code: "\u001b[2J" }],
  ["no device code", { device_code: 7 }],
])("a device login with %s is refused", (_name, change) => {
  const standard = {
    ...provider("anthropic"),
    device: { dialect: "standard" as const, startUrl: "https://a.example" },
  };
  const good = { device_code: "d", user_code: "AB", verification_uri: "https://a.example/device" };
  const dialect = deviceDialect(standard, standard.device);
  expect(dialect.readStart(answer(200, good))).toMatchObject({ kind: "started", intervalMs: 5_000 });
  expect(dialect.readStart(answer(200, { ...good, ...change }))).toMatchObject({ failure: { kind: "server" } });
});

test("the addresses of GitHub Copilot are those of the chosen server", () => {
  const copilot = provider("github-copilot");
  const addresses = (domain: string) => {
    const { tokenUrl, device, exchange } = withDomain(copilot, domain);
    return [device?.startUrl, tokenUrl, exchange?.url];
  };
  expect(addresses("github.com")).toEqual([
    "https://github.com/login/device/code",
    "https://github.com/login/oauth/access_token",
    "https://api.github.com/copilot_internal/v2/token",
  ]);
  expect(addresses("company.ghe.com")).toEqual([
    "https://company.ghe.com/login/device/code",
    "https://company.ghe.com/login/oauth/access_token",
    "https://api.company.ghe.com/copilot_internal/v2/token",
  ]);
});

test.each([
  ["", "github.com"],
  ["  Company.GHE.com ", "company.ghe.com"],
  ["https://company.ghe.com/login", "company.ghe.com"],
  ["company.ghe.com:8443", "company.ghe.com:8443"],
  ["https://me:secret@company.ghe.com", undefined],
  ["not a host", undefined],
])("the host in %j is %j", (typed, domain) => {
  expect(parseDomain(typed, "github.com")).toBe(domain);
});

test("GitHub's refusals come with HTTP 200, and slow_down names the new pause", () => {
  const copilot = provider("github-copilot");
  const dialect = deviceDialect(copilot, copilot.device!);
  const poll = (json: Record<string, unknown>) => dialect.readPoll(answer(200, json), 0);
  expect(poll({ error: "authorization_pending" })).toEqual({ kind: "pending" });
  expect(poll({ error: "slow_down", interval: 12 })).toEqual({ kind: "slow_down", intervalMs: 12_000 });
  expect(poll({ error: "access_denied" })).toMatchObject({ failure: { kind: "denied" } });
  expect(poll({ error: "expired_token" })).toMatchObject({ failure: { kind: "expired" } });
  expect(poll({ access_token: "ghu_1", token_type: "bearer", scope: "" })).toMatchObject({ kind: "tokens" });
});

test.each([
  [200, { token: "t", expires_at: 10, endpoints: { api: "https://api.x.ghe.com/" } }, "https://api.x.ghe.com"],
  [200, { token: "t", expires_at: 10, endpoints: { api: "http://api.x.ghe.com" } }, undefined],
  [200, { token: "t", expires_at: 10 }, undefined],
])("an exchange with HTTP %i and %j is for %j", (status, json, baseUrl) => {
  const outcome = readExchange(answer(status, json), { provider: provider("github-copilot"), token: "gh", nowMs: 1 });
  expect(outcome).toMatchObject({ kind: "tokens", tokens: { access: "t", refresh: "gh", expires: 10_000 } });
  expect((outcome as { baseUrl?: string }).baseUrl).toBe(baseUrl);
});

test.each([
  [401, { message: "canary" }, "login_required"],
  [403, { message: "canary" }, "denied"],
  [404, undefined, "denied"],
  [500, undefined, "server"],
  [200, { token: "two\nlines canary", expires_at: 10 }, "server"],
  [200, { token: "canary", expires_at: 0 }, "server"],
])("an exchange with HTTP %i and %j fails as %s", (status, json, kind) => {
  const outcome = readExchange(answer(status, json), { provider: provider("github-copilot"), token: "gh", nowMs: 1 });
  expect(outcome).toMatchObject({ failure: { kind } });
  expect(JSON.stringify(outcome)).not.toContain("canary");
});

test("models that the policy of an account has turned off are not in its list", () => {
  const data = [{ id: "a" }, { id: "b", policy: { state: "disabled" } }, { id: "c", policy: { state: "enabled" } }, 7];
  expect(readModelIds({ data })).toEqual(["a", "c"]);
  expect(readModelIds({ data: "none" })).toBeUndefined();
});
