/** Signing in to servers, against a server that speaks the real protocol. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { systemClock } from "@tau/ai";
import { AuthStorage } from "@tau/config/auth";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { HttpTarget, McpEntry } from "../../src/mcp/entry.ts";
import { openStoredLogin } from "../../src/mcp/oauth-provider.ts";
import { getRedirect, isAllowedAddress } from "../../src/mcp/oauth-address.ts";
import { removeLogin } from "../../src/mcp/oauth-store.ts";
import { parseEntries } from "../../src/mcp/parse-entries.ts";
import { signIn, type SignInInteraction } from "../../src/mcp/sign-in.ts";
import { createTestServers, makeDirectory } from "./kit.ts";
import { type OAuthServer, startOAuthServer } from "./oauth-server.ts";

interface Where {
  scope?: "user" | "project";
  oauth?: unknown;
  url?: string;
}

function parseEntry(server: OAuthServer, { scope = "user", oauth, url = server.url }: Where = {}): McpEntry {
  const servers = { docs: { type: "http", url, ...(oauth !== undefined && { oauth }) } };
  return parseEntries([{ source: { scope, path: `/${scope}/mcp.json` }, servers }]).entries[0]!;
}

interface Person extends Partial<SignInInteraction> {
  /** Nobody can be asked. */
  isAlone?: boolean;
  /** Does with the address what the person does. Default: signs in. */
  open?: (url: string) => Promise<unknown>;
}

/** Signs in as a person with a browser does. */
async function logIn(
  server: OAuthServer,
  auth: AuthStorage,
  { open, isAlone, ...person }: Person = {},
  where: Where = {},
) {
  const entry = parseEntry(server, where);
  const shown: string[] = [];
  const browse = open ?? (async (url: string) => await fetch(await server.approve(url)));
  const outcome = await signIn({
    entry,
    target: entry.target as HttpTarget,
    auth,
    clock: systemClock,
    fetch,
    interaction: {
      notify(event) {
        shown.push(JSON.stringify(event));
        if (event.type === "auth_url") void browse(event.url);
      },
      ...(!isAlone && {
        async confirm(title: string, lines: readonly string[]) {
          shown.push(title, ...lines);
          return true;
        },
      }),
      ...person,
    },
  });
  return { outcome, shown, entry };
}

async function connect(server: OAuthServer, auth: AuthStorage, { scope = "user", url = server.url }: Where = {}) {
  const { servers, logged } = await createTestServers({
    configured: { docs: { type: "http", url } },
    scope,
    createAuthProvider: (entry, target) => openStoredLogin({ auth, entry, target, clock: systemClock, fetch }),
  });
  // The source of the kit's entries is another file.
  await servers.configure({ entries: [parseEntry(server, { scope, url })], problems: [] });
  return { servers, logged, connected: await servers.connect("docs") };
}

test("a person who signed in reaches the server, and a server without a login says how to sign in", async () => {
  const server = await startOAuthServer();
  const auth = AuthStorage.inMemory();
  const before = await connect(server, auth);
  expect(before.connected).toMatchObject({ failure: { kind: "login_required" } });
  expect(JSON.stringify(before.connected)).toMatch(/\/mcp.*tau mcp login docs/);
  // A session neither registers a client nor looks for metadata.
  expect(server.requests.filter((request) => !request.endsWith(" /mcp"))).toEqual([]);

  const { outcome, shown } = await logIn(server, auth);
  expect(outcome).toEqual({ kind: "done" });
  const host = new URL(server.url).host;
  expect(shown.slice(0, 3)).toEqual([
    "Sign in to the MCP server docs?",
    `You sign in at: ${host}`,
    `It is for the server: ${host}`,
  ]);
  expect(shown[3]).toContain("auth_url");
  expect(server.registrations).toMatchObject([
    { client_name: "tau", redirect_uris: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)] },
  ]);
  expect(server.tokenRequests).toMatchObject([{ resource: server.url, code_verifier: expect.stringMatching(/.{43}/) }]);
  expect((await connect(server, auth)).connected).toMatchObject({ definitions: { tools: [{ name: "whoami" }] } });
});

describe("a login", () => {
  test("is renewed when its token has expired, and the new one is stored", async () => {
    const server = await startOAuthServer();
    const auth = AuthStorage.inMemory();
    await logIn(server, auth);
    server.expire();
    expect((await connect(server, auth)).connected.kind).toBe("connected");
    expect(server.tokenRequests.at(-1)).toMatchObject({ grant_type: "refresh_token", client_id: "client-1" });
    // The old refresh token is used up: only a stored new one can be renewed again.
    server.expire();
    expect((await connect(server, auth)).connected.kind).toBe("connected");
    expect(server.registrations).toHaveLength(1);
  });

  test("is renewed by one program at a time, as a refresh token is valid once", async () => {
    const server = await startOAuthServer();
    const file = join(await makeDirectory(), "auth.json");
    // As other programs have it: nothing is shared but the file.
    const openAuth = () => AuthStorage.create(file);
    await logIn(server, openAuth());
    for (let round = 0; round < 3; round++) {
      server.expire();
      const before = server.tokenRequests.length;
      const connected = await Promise.all([1, 2, 3, 4].map(async () => (await connect(server, openAuth())).connected));
      expect(connected.map(({ kind }) => kind)).toEqual(["connected", "connected", "connected", "connected"]);
      expect(server.tokenRequests.length - before).toBe(1);
    }
  });

  test("whose renewal is refused asks to sign in again, and its tokens are gone", async () => {
    const server = await startOAuthServer();
    const auth = AuthStorage.inMemory();
    await logIn(server, auth);
    server.expire();
    server.behaviour = { refusesRenewal: true };
    const { connected } = await connect(server, auth);
    expect(connected).toMatchObject({ failure: { kind: "login_required" } });
    expect(await auth.list()).toEqual([]);
    server.behaviour = {};
    expect((await logIn(server, auth)).outcome).toEqual({ kind: "done" });
    expect((await connect(server, auth)).connected.kind).toBe("connected");
  });

  test("belongs to its entry: other sources, other addresses and changed entries have none of it", async () => {
    const server = await startOAuthServer();
    const auth = AuthStorage.inMemory();
    await logIn(server, auth);
    const get = async (where: Where) => {
      const entry = parseEntry(server, where);
      const target = entry.target as HttpTarget;
      return await openStoredLogin({ auth, entry, target, clock: systemClock, fetch });
    };
    expect(await get({})).toBeDefined();
    expect(await get({ scope: "project" })).toBeUndefined();
    expect(await get({ url: `${server.origin}/other` })).toBeUndefined();
    expect(await get({ oauth: { scope: "write" } })).toBeUndefined();
    expect(await get({ oauth: false })).toBeUndefined();
    // The address after its variables were filled in counts too.
    const entry = parseEntry(server);
    const target: HttpTarget = { ...(entry.target as HttpTarget), url: "https://evil.test/mcp" };
    expect(await openStoredLogin({ auth, entry, target, clock: systemClock, fetch })).toBeUndefined();
    await logIn(server, auth, {}, { scope: "project" });
    expect(await get({})).toBeDefined();
    expect(await removeLogin(auth, parseEntry(server, { scope: "project" }))).toBe(true);
    expect([await get({ scope: "project" }), (await auth.list()).length]).toEqual([undefined, 1]);
  });

  test("that is denied in the browser, or not confirmed, stores nothing", async () => {
    const server = await startOAuthServer();
    const auth = AuthStorage.inMemory();
    const denied = await logIn(server, auth, {
      open: async (url) => await fetch(await server.approve(url, { deny: true })),
    });
    expect(denied.outcome).toMatchObject({
      failure: { kind: "login_required", message: expect.stringContaining("refused") },
    });
    const declined = await logIn(server, auth, { confirm: async () => false });
    expect(declined.outcome).toMatchObject({ failure: { kind: "aborted" } });
    expect(declined.shown.join()).not.toContain("auth_url");
    expect([await auth.list(), server.tokenRequests]).toEqual([[], []]);
  });

  test("ignores redirects with another state, and takes the right one after them", async () => {
    const server = await startOAuthServer();
    const auth = AuthStorage.inMemory();
    const statuses: number[] = [];
    const { outcome } = await logIn(server, auth, {
      open: async (url) => {
        statuses.push((await fetch(await server.approve(url, { state: "wrong" }))).status);
        statuses.push((await fetch(await server.approve(url))).status);
      },
    });
    expect([outcome, statuses]).toEqual([{ kind: "done" }, [400, 200]]);
  });

  test("can be finished with the pasted address, whose state is checked", async () => {
    const server = await startOAuthServer();
    const auth = AuthStorage.inMemory();
    const paste = async (edit: (address: string) => string) => {
      let opened: (url: string) => void;
      const address = new Promise<string>((resolve) => (opened = resolve));
      return await logIn(server, auth, {
        open: async (url) => opened(url),
        paste: async () => edit(await server.approve(await address)),
      });
    };
    for (const edit of [
      (address: string) => address.replace(/state=[^&]*/, "state=wrong"),
      (address: string) => new URL(address).searchParams.get("code")!,
    ])
      expect((await paste(edit)).outcome).toMatchObject({ failure: { kind: "login_required" } });
    expect(server.tokenRequests).toEqual([]);
    expect((await paste((address) => address)).outcome).toEqual({ kind: "done" });
  });

  test("uses what the entry says about the client and the authorization server", async () => {
    const server = await startOAuthServer();
    const auth = AuthStorage.inMemory();
    const own = { clientId: "mine", clientSecret: "client-secret-1", scope: "write", callbackUrl: undefined };
    let opened = "";
    const { outcome } = await logIn(
      server,
      auth,
      {
        open: async (url) => {
          opened = url;
          await fetch(await server.approve(url));
        },
      },
      { oauth: { ...own, authServerMetadataUrl: `${server.origin}/elsewhere/metadata` } },
    );
    expect(outcome).toEqual({ kind: "done" });
    expect(Object.fromEntries(new URL(opened).searchParams)).toMatchObject({ client_id: "mine", scope: "write" });
    expect(server.requests).toContain("GET /elsewhere/metadata");
    expect(server.requests).not.toContain("GET /.well-known/oauth-authorization-server");
    expect([server.registrations, server.tokenRequests.length]).toEqual([[], 1]);
    await logIn(server, auth, {}, { oauth: { clientName: "mine" } });
    expect(server.registrations).toMatchObject([{ client_name: "mine" }]);
  });

  test.each([
    [{ callbackUrl: "https://evil.test/callback" }, "callbackUrl"],
    [{ callbackUrl: "http://evil.test:80/callback" }, "callbackUrl"],
    [{ callbackPort: 70_000 }, "callbackPort"],
    [{ clientRegistration: "http://evil.test/client" }, "clientRegistration"],
  ])("with %j fails before anything is sent", async (oauth, name) => {
    const server = await startOAuthServer();
    const { outcome } = await logIn(server, AuthStorage.inMemory(), {}, { oauth });
    expect(outcome).toMatchObject({ failure: { message: expect.stringContaining(name) } });
    expect(server.requests).toEqual([]);
  });
});

describe("metadata that leads elsewhere", () => {
  const evil = "http://evil.test";
  test.each([
    ["an authorization server over http", { resourceMetadata: { authorization_servers: [evil] } }],
    ["another resource", { resourceMetadata: { resource: "https://evil.test/mcp" } }],
    ["another issuer", { serverMetadata: { issuer: "https://evil.test" } }],
    ["a login page over http", { serverMetadata: { authorization_endpoint: `${evil}/authorize` } }],
    ["a login page that is a script", { serverMetadata: { authorization_endpoint: "javascript:alert(1)" } }],
    ["an endpoint for tokens over http", { serverMetadata: { token_endpoint: `${evil}/token` } }],
    ["a registration over http", { serverMetadata: { registration_endpoint: `${evil}/register` } }],
    ["no PKCE", { serverMetadata: { code_challenge_methods_supported: ["plain"] } }],
  ])("is refused: %s", async (_name, behaviour) => {
    const server = await startOAuthServer();
    const auth = AuthStorage.inMemory();
    server.behaviour = behaviour;
    const { outcome } = await logIn(server, auth);
    expect(outcome).toMatchObject({ kind: "failed", failure: { kind: "login_required" } });
    expect([await auth.list(), server.accessTokens.size]).toEqual([[], 0]);
  });

  test("shows the host of another authorization server before its address", async () => {
    const [server, other] = [await startOAuthServer(), await startOAuthServer()];
    server.behaviour = { resourceMetadata: { authorization_servers: [other.origin] } };
    const { shown } = await logIn(server, AuthStorage.inMemory(), {
      isAlone: true,
      open: async (url) => await fetch(await other.approve(url, { deny: true })),
    });
    expect(shown[0]).toContain(`You sign in at: ${new URL(other.origin).host}`);
    expect(shown[0]).toContain(`It is for the server: ${new URL(server.origin).host}`);
    expect(shown[1]).toContain("auth_url");
  });

  test("a request for tokens that is redirected goes nowhere else", async () => {
    const server = await startOAuthServer();
    let received = 0;
    const thief = createServer((_request, response) => {
      received++;
      response.end();
    });
    await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void thief.close());
    server.behaviour = { redirectsTokenTo: `http://127.0.0.1:${(thief.address() as AddressInfo).port}/` };
    const { outcome } = await logIn(server, AuthStorage.inMemory());
    expect([outcome.kind, received]).toEqual(["failed", 0]);
  });
});

test("no secret is in a message, an error, a log or the output, even if the server repeats it", async () => {
  const printed = [vi.spyOn(console, "warn"), vi.spyOn(console, "error"), vi.spyOn(console, "log")];
  onTestFinished(() => printed.forEach((spy) => spy.mockRestore()));
  const server = await startOAuthServer();
  const auth = AuthStorage.inMemory();
  const seen: unknown[] = [await logIn(server, auth).then(({ outcome }) => outcome)];
  const calling = await connect(server, auth);
  server.behaviour = { repeatsToken: true };
  const failed = await calling.servers
    .run("docs", (connection) => connection.callTool({ name: "whoami", inputSchema: {} } as never, {}, {}))
    .catch((error: unknown) => error);
  expect(String(failed)).toContain("[hidden]");
  seen.push(failed, calling.logged);
  const { connected, logged, servers } = await connect(server, auth);
  seen.push(
    connected,
    logged,
    servers.list(),
    await servers.run("docs", async () => 1).catch((error: unknown) => error),
  );
  server.expire();
  server.behaviour = { refusesRenewal: true };
  const refused = await connect(server, auth);
  seen.push(refused.connected, refused.logged);
  // A code that is used twice is refused with a text that repeats the request.
  server.behaviour = { serverMetadata: { token_endpoint: `${server.origin}/token` } };
  const replayed = await logIn(server, auth, {
    open: async (url) => {
      const changed = new URL(url);
      changed.searchParams.set("code_challenge", "another");
      await fetch(await server.approve(changed.href));
    },
  });
  expect(replayed.outcome).toMatchObject({ failure: { message: expect.stringContaining("invalid_grant") } });
  seen.push(replayed.outcome);
  const text = inspect(seen, { depth: 12, showHidden: true });
  for (const secret of server.secrets) expect(text).not.toContain(secret);
  expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
});

test.each([
  ["https://a.test", "https://b.test", true],
  ["http://127.0.0.1:1", "http://localhost:2", true],
  ["http://127.0.0.1:1", "https://b.test", false],
  ["http://b.test", "http://b.test", false],
  ["file:///etc/passwd", "http://localhost", false],
])("an address %s of the server %s is allowed: %s", (url, server, isAllowed) => {
  expect(isAllowedAddress(new URL(url), new URL(server))).toBe(isAllowed);
});

test("the redirect of an entry is on this machine", () => {
  expect(getRedirect({})).toEqual({ port: 0, isFixed: false, path: "/callback", host: "127.0.0.1" });
  expect(getRedirect({ callbackPort: 9 })).toMatchObject({ port: 9, isFixed: true });
  const url = "http://localhost:8765/back";
  expect(getRedirect({ callbackUrl: url })).toEqual({ port: 8765, isFixed: true, path: "/back", host: "localhost" });
});
