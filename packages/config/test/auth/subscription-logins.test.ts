/** The logins of Anthropic and ChatGPT, with their own data and addresses on this machine. */
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { oauthProviders } from "../../src/auth/oauth-providers.ts";
import { person, setup, visit } from "./kit.ts";
import { localProvider, passTime, type Seen, serve } from "./provider-kit.ts";

const subscriptions = [
  { id: "anthropic", tokenPath: "/v1/oauth/token", authorizePath: "/oauth/authorize" },
  { id: "openai", tokenPath: "/oauth/token", authorizePath: "/oauth/authorize" },
  { id: "openai-codex", tokenPath: "/oauth/token", authorizePath: "/oauth/authorize" },
] as const;

/** Anthropic takes JSON, OpenAI a form, or JSON for device codes. */
const readFields = ({ text, headers }: Seen): Record<string, unknown> =>
  headers["content-type"]?.includes("json")
    ? (JSON.parse(text) as Record<string, unknown>)
    : Object.fromEntries(new URLSearchParams(text));

async function start(id: string) {
  const clock = createFakeClock();
  const server = await serve({});
  const provider = localProvider(id, server.host);
  // The fixed port may be in use on the machine of the tests.
  const browser = { ...provider.browser!, redirect: { path: provider.browser!.redirect.path, port: 0 } };
  return { clock, server, provider, ...setup({ clock, oauthProviders: [{ ...provider, browser }] }) };
}

/** The address to which the browser is sent back. */
function getBack(authorizeUrl: string, answer: Record<string, string>): string {
  const asked = new URL(authorizeUrl).searchParams;
  const back = new URL(asked.get("redirect_uri")!);
  back.search = new URLSearchParams({ ...answer, state: asked.get("state")! }).toString();
  return back.href;
}

describe.each(subscriptions)("$id in a browser", ({ id, tokenPath, authorizePath }) => {
  const { clientId, scopes } = oauthProviders.find((provider) => provider.id === id)!;

  test("the code is exchanged, the token is renewed when it has expired, and a refusal of that asks for a new login", async () => {
    const { clock, server, storage } = await start(id);
    let asked = new URL("http://none");
    server.answers[tokenPath] = () => ({ body: { access_token: "one", refresh_token: "first", expires_in: 3_600 } });
    const { interaction } = person((event) => {
      if (event.type !== "auth_url") throw new Error("no address");
      asked = new URL(event.url);
      void visit(getBack(event.url, { code: "code-1" }));
    });
    expect(await storage.login(id, interaction)).toEqual({ kind: "done" });
    expect(asked.pathname).toBe(authorizePath);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      client_id: clientId,
      scope: scopes.join(" "),
      response_type: "code",
      code_challenge_method: "S256",
    });
    expect(readFields(server.seen[0]!)).toMatchObject({
      grant_type: "authorization_code",
      client_id: clientId,
      code: "code-1",
      code_verifier: expect.stringMatching(/^[\w-]{43,}$/) as unknown,
    });
    expect(await storage.getApiKey(id)).toMatchObject({ kind: "found", key: "one" });
    server.answers[tokenPath] = () => ({ body: { access_token: "two", refresh_token: "second", expires_in: 3_600 } });
    await clock.advance(3_600_000);
    expect(await storage.getApiKey(id)).toMatchObject({ kind: "found", key: "two" });
    expect(readFields(server.seen.at(-1)!)).toMatchObject({ grant_type: "refresh_token", refresh_token: "first" });
    server.answers[tokenPath] = () => ({ status: 400, body: { error: "invalid_grant" } });
    await clock.advance(3_600_000);
    expect(await storage.getApiKey(id)).toMatchObject({ failure: { kind: "login_required" } });
  });

  test("a refusal, a code that the server does not take and a login that nobody finishes end it, and nothing is stored", async () => {
    const { clock, server, storage } = await start(id);
    const answerWith = (answer: Record<string, string>) =>
      person((event) => void visit(getBack(event.type === "auth_url" ? event.url : "", answer))).interaction;
    const refused = await storage.login(id, answerWith({ error: "access_denied" }));
    expect(refused).toMatchObject({ failure: { kind: "denied" } });
    expect(server.seen).toEqual([]);
    server.answers[tokenPath] = () => ({ status: 400, body: { error: "invalid_grant" } });
    expect(await storage.login(id, answerWith({ code: "old" }))).toMatchObject({ failure: { kind: "login_required" } });
    const unfinished = storage.login(id, person(() => undefined).interaction);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(15 * 60_000);
    expect(await unfinished).toMatchObject({ failure: { kind: "expired" } });
    expect(await storage.list()).toEqual([]);
  });
});

describe.each(["openai", "openai-codex"])("%s with a device code", (id) => {
  const startPath = "/api/accounts/deviceauth/usercode";
  const pollPath = "/api/accounts/deviceauth/token";

  /** Each poll has the next of these answers; the last one stays. */
  async function logIn(polls: readonly { status: number; body: unknown }[]) {
    const kit = await start(id);
    const { clock, server, storage } = kit;
    const rest = [...polls];
    const pollTimes: number[] = [];
    Object.assign(server.answers, {
      [startPath]: () => ({ body: { device_auth_id: "dev", user_code: "AB-12", interval: "5" } }),
      [pollPath]: () => {
        pollTimes.push(clock.monotonic());
        return rest.length > 1 ? rest.shift()! : rest[0]!;
      },
      "/oauth/token": () => ({ body: { access_token: "one", refresh_token: "first", expires_in: 3_600 } }),
    });
    const { events, interaction } = person(() => undefined);
    const work = storage.login(id, interaction, { method: "device" });
    const outcome = await passTime(work, clock, () => events.length > 0);
    const pauses = pollTimes.slice(1).map((time, index) => Math.round((time - pollTimes[index]!) / 1_000));
    return { ...kit, outcome, events, pauses };
  }

  const pending = { status: 403, body: {} };
  const granted = { status: 200, body: { authorization_code: "code-1", code_verifier: "verifier-1" } };

  test("waits, asks less often when the server is busy, and exchanges the code that it is given", async () => {
    const busy = { status: 429, body: {} };
    const { outcome, events, pauses, server, storage } = await logIn([pending, busy, pending, granted]);
    expect(outcome).toEqual({ kind: "done" });
    expect(events).toMatchObject([{ type: "device_code", userCode: "AB-12" }]);
    expect(pauses).toEqual([5, 10, 10]);
    expect(readFields(server.seen[1]!)).toEqual({ device_auth_id: "dev", user_code: "AB-12" });
    expect(readFields(server.seen.at(-1)!)).toMatchObject({
      grant_type: "authorization_code",
      code: "code-1",
      code_verifier: "verifier-1",
    });
    expect(await storage.getApiKey(id)).toMatchObject({ kind: "found", key: "one" });
  });

  test.each([
    ["access_denied", { status: 400, body: { error: "access_denied" } }, "denied"],
    ["expired_token", { status: 400, body: { error: "expired_token" } }, "expired"],
    ["a code that nobody enters", pending, "expired"],
  ])("%s ends the login, and nothing is stored", async (_name, answer, kind) => {
    const { outcome, storage } = await logIn([answer]);
    expect(outcome).toMatchObject({ failure: { kind } });
    expect(await storage.list()).toEqual([]);
  });
});
