import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LoginEvent } from "../../src/auth/login-interaction.ts";
import type { AuthStorage } from "../../src/auth/auth-storage.ts";
import { canary, startAuthorizationServer } from "./authorization-server.ts";
import { person, setup, visit } from "./kit.ts";

async function start(extra: Parameters<typeof setup>[0] = {}) {
  const server = await startAuthorizationServer();
  const kit = setup({ oauthProviders: [server.provider()], ...extra });
  return { server, ...kit };
}

const getUrl = (event: LoginEvent) => {
  if (event.type !== "auth_url") throw new Error("no address");
  return event.url;
};
const getKind = async (outcome: ReturnType<AuthStorage["login"]>) => {
  const end = await outcome;
  expect(JSON.stringify(end)).not.toContain(canary);
  return end.kind === "failed" ? end.failure.kind : end.kind;
};

describe("in a browser", () => {
  test("the browser is redirected, the code is exchanged, and the tokens are stored for this provider's host", async () => {
    const clock = createFakeClock();
    const { server, storage, read } = await start({ clock });
    const { events, interaction } = person((event) => void visit(server.approve(getUrl(event))));
    expect(await storage.login("here", interaction)).toEqual({ kind: "done" });
    expect(events).toHaveLength(1);
    expect(new URL(getUrl(events[0]!)).searchParams.get("tenant")).toBe("1");
    expect(read()["here"]).toMatchObject({ type: "oauth", expires: clock.now() + 3_600_000, expires_in: 3_600 });
    expect(await storage.getApiKey("here", { host: "https://api.here.example/v1" })).toMatchObject({
      kind: "found",
      source: "stored",
      key: read()["here"]?.access,
    });
    expect(await storage.getApiKey("here", { host: "api.elsewhere.example" })).toMatchObject({ kind: "none" });
    expect(server.grants).toEqual(["authorization_code"]);
  });

  test("an answer with another state is refused, and the right one after it still counts", async () => {
    const { server, storage } = await start();
    const seen: number[] = [];
    const { interaction } = person((event) => {
      const good = server.approve(getUrl(event));
      const bad = new URL(good);
      bad.searchParams.set("state", "guessed");
      const none = new URL(good);
      none.searchParams.delete("state");
      void (async () => {
        for (const url of [bad.href, none.href, new URL("/other", good).href, good])
          seen.push((await visit(url)).status);
      })();
    });
    expect(await getKind(storage.login("here", interaction))).toBe("done");
    expect(seen.slice(0, 3)).toEqual([400, 400, 404]);
    expect(server.grants).toHaveLength(1);
  });

  test("the server on this machine accepts one answer and is then closed", async () => {
    const { server, storage } = await start();
    let back = "";
    const { interaction } = person((event) => void visit((back = server.approve(getUrl(event)))));
    await storage.login("here", interaction);
    expect((await visit(back)).status).toBe(0);
  });

  test("a browser that closes the connection before it got the page has still delivered the code", async () => {
    const { server, storage } = await start();
    const { interaction } = person((event) => {
      const back = new URL(server.approve(getUrl(event)));
      const socket = connect(Number(back.port), "127.0.0.1", () => {
        socket.write(`GET ${back.pathname}${back.search} HTTP/1.1\r\nHost: localhost\r\n\r\n`, () => socket.destroy());
      });
    });
    expect(await getKind(storage.login("here", interaction))).toBe("done");
  });

  test("the page shows nothing of the request", async () => {
    const { server, storage } = await start();
    const shown = withResolvers<string>();
    const { interaction } = person((event) => {
      const url = new URL(server.approve(getUrl(event)));
      url.searchParams.set("x", "<script>alert(1)</script>");
      void visit(url.href).then(({ text }) => shown.resolve(text));
    });
    await storage.login("here", interaction);
    const text = await shown.promise;
    expect(text).toContain("close this window");
    expect(text).not.toMatch(/script|canary/);
  });

  test("a refusal in the browser is a failure, and nothing is stored", async () => {
    const { server, storage, directory } = await start();
    const { interaction } = person((event) => {
      const url = new URL(server.approve(getUrl(event)));
      url.searchParams.delete("code");
      url.searchParams.set("error", "access_denied");
      void visit(url.href);
    });
    expect(await getKind(storage.login("here", interaction))).toBe("denied");
    expect(readdirSync(directory)).not.toContain("auth.json");
  });

  test("a fixed port that is in use leaves pasting, or else a failure that names the port", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const server = await startAuthorizationServer();
    const redirect = { port, isFixed: true, path: "/back" };
    const browser = { authorizeUrl: `${server.url}/authorize`, redirect };
    const { storage } = setup({ oauthProviders: [server.provider({ browser })] });
    const alone = await storage.login("here", person(() => undefined).interaction);
    expect(alone).toMatchObject({ kind: "failed", failure: { kind: "unsupported" } });
    expect(JSON.stringify(alone)).toContain(String(port));
    let back = "";
    const { interaction } = person(
      (event) => (back = server.approve(getUrl(event))),
      async () => back,
    );
    expect(await storage.login("here", interaction)).toEqual({ kind: "done" });
  });

  test("a preferred port that is in use is replaced by a free one", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const server = await startAuthorizationServer();
    const browser = { authorizeUrl: `${server.url}/authorize`, redirect: { port, path: "/back" } };
    const { storage } = setup({ oauthProviders: [server.provider({ browser })] });
    const { interaction } = person((event) => void visit(server.approve(getUrl(event))));
    expect(await storage.login("here", interaction)).toEqual({ kind: "done" });
  });

  test("a login that is not finished within 15 minutes ends, and so does one that is cancelled", async () => {
    const clock = createFakeClock();
    const { storage } = await start({ clock });
    const slow = storage.login("here", person(() => undefined).interaction);
    while (clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(15 * 60_000);
    expect(await getKind(slow)).toBe("expired");
    const cancel = new AbortController();
    const { interaction } = person(() => cancel.abort());
    expect(await getKind(storage.login("here", interaction, { signal: cancel.signal }))).toBe("aborted");
  });
});

describe("pasting", () => {
  const pasteForms: [string, (back: URL) => string][] = [
    ["the whole address", (back) => `  ${back.href}\n`],
    ["code#state", (back) => `${back.searchParams.get("code")}#${back.searchParams.get("state")}`],
    ["the query", (back) => back.search.slice(1)],
    ["the code alone", (back) => back.searchParams.get("code") ?? ""],
  ];
  test.each(pasteForms)("%s is enough", async (_name, form) => {
    const { server, storage } = await start();
    let back = "";
    const { interaction } = person(
      (event) => (back = server.approve(getUrl(event))),
      async () => form(new URL(back)),
    );
    expect(await getKind(storage.login("here", interaction, { method: "paste" }))).toBe("done");
  });

  test("a text with another state is refused without a request", async () => {
    const { server, storage } = await start();
    let back = "";
    const { interaction } = person(
      (event) => (back = server.approve(getUrl(event))),
      async () => `${new URL(back).searchParams.get("code")}#guessed`,
    );
    expect(await getKind(storage.login("here", interaction, { method: "paste" }))).toBe("wrong_state");
    expect(server.grants).toEqual([]);
  });

  test("a code that was used is refused, and so is one of another login, whose verifier differs", async () => {
    const { server, storage } = await start();
    let first = "";
    const once = person(
      (event) => (first ||= server.approve(getUrl(event))),
      async () => new URL(first).searchParams.get("code") ?? "",
    );
    expect(await getKind(storage.login("here", once.interaction, { method: "paste" }))).toBe("done");
    expect(await getKind(storage.login("here", once.interaction, { method: "paste" }))).toBe("login_required");
    let another = "";
    const mixed = person(
      (event) =>
        (another = server.approve(
          `${getUrl(event)}&code_challenge=x`.replace(/code_challenge=[^&]*/, "code_challenge=x"),
        )),
      async () => new URL(another).searchParams.get("code") ?? "",
    );
    expect(await getKind(storage.login("here", mixed.interaction, { method: "paste" }))).toBe("login_required");
  });

  test("the prompt is stopped when the browser was first", async () => {
    const { server, storage } = await start();
    let isStopped = false;
    const { interaction } = person(
      (event) => void visit(server.approve(getUrl(event))),
      (signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            isStopped = true;
            reject(new Error("the prompt was closed"));
          });
        }),
    );
    expect(await getKind(storage.login("here", interaction))).toBe("done");
    expect(isStopped).toBe(true);
  });
});

describe("with a device code", () => {
  /** Logs in while time flies, and says how long it took. */
  async function withDevice(polls: string[], stepMs = 1_000) {
    const clock = createFakeClock();
    const { server, storage, directory } = await start({ clock });
    server.polls = polls;
    const { events, interaction } = person(() => undefined);
    const startMs = clock.monotonic();
    let isOver = false;
    const outcome = storage.login("here", interaction, { method: "device" }).finally(() => (isOver = true));
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      // The timer of a question on its way must not be taken for the pause between two.
      if (clock.waiting === 1 && events.length > 0) await clock.advance(stepMs);
    }
    return { kind: await getKind(outcome), events, server, tookMs: clock.monotonic() - startMs, directory };
  }

  test("the user sees a code and an address, never the secret, and the login waits", async () => {
    const { kind, events, server } = await withDevice(["authorization_pending", "authorization_pending", "granted"]);
    expect(kind).toBe("done");
    expect(server.grants).toEqual(["device_code", "device_code", "device_code"]);
    expect(events).toEqual([
      {
        type: "device_code",
        userCode: "WDJB-MJHT",
        verificationUrl: `${server.url}/activate`,
        completeUrl: `${server.url}/activate?user_code=WDJB-MJHT`,
        intervalMs: 5_000,
        lifetimeMs: 900_000,
      },
    ]);
  });

  test("slow_down adds five seconds to every later pause", async () => {
    const patient = await withDevice(["authorization_pending", "authorization_pending", "granted"], 5_000);
    const slower = await withDevice(["slow_down", "slow_down", "granted"], 5_000);
    expect([patient.kind, slower.kind]).toEqual(["done", "done"]);
    expect(slower.tookMs - patient.tookMs).toBe(15_000);
  });

  test.each([
    ["expired_token", "expired"],
    ["access_denied", "denied"],
    ["something_new", "server"],
  ])("%s ends the login as %s", async (error, kind) => {
    const end = await withDevice(["authorization_pending", error]);
    expect(end.kind).toBe(kind);
    expect(readdirSync(end.directory)).not.toContain("auth.json");
  });

  test("a server that always answers pending is not asked after the code has expired", async () => {
    const { kind, tookMs } = await withDevice(["authorization_pending"], 60_000);
    expect(kind).toBe("expired");
    expect(tookMs).toBeLessThan(1_000_000);
  });
});

describe("failures", () => {
  test.each([
    ["is garbage", { status: 200, body: `<html>${canary}` }, "server"],
    ["has no token", { status: 200, body: `{"access_token":"two\\nlines","expires_in":5}` }, "server"],
    ["is a list", { status: 200, body: "[1]" }, "server"],
    ["has a token that never began", { status: 200, body: `{"access_token":"a","expires_in":-1}` }, "server"],
    [
      "is huge",
      { status: 200, body: JSON.stringify({ access_token: "a", expires_in: 5, x: "x".repeat(2_000_000) }) },
      "server",
    ],
    ["is an error", { status: 503, body: canary }, "server"],
  ])("an answer that %s stores nothing", async (_name, raw, kind) => {
    const { server, storage, directory } = await start();
    let back = "";
    const { interaction } = person(
      (event) => {
        back = server.approve(getUrl(event));
        server.raw = raw;
      },
      async () => back,
    );
    expect(await getKind(storage.login("here", interaction, { method: "paste" }))).toBe(kind);
    expect(await getKind(storage.login("here", interaction, { method: "device" }))).toBe(kind);
    expect(readdirSync(directory)).not.toContain("auth.json");
  });

  test("a server that is down or never answers is named, and nothing is stored", async () => {
    const clock = createFakeClock();
    const { server, storage } = await start({ clock });
    await server.close();
    const down = await storage.login("here", person(() => undefined).interaction, { method: "device" });
    expect(down).toMatchObject({ failure: { kind: "network" } });
    expect(JSON.stringify(down)).toContain(new URL(server.url).host);
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const startUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/device`;
    storage.registerOAuthProvider(server.provider({ device: { dialect: "standard", startUrl } }));
    const waiting = storage.login("here", person(() => undefined).interaction, { method: "device" });
    while (clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(30_000);
    expect(await getKind(waiting)).toBe("network");
  });

  test("a damaged file ends a login before it begins, and is not changed", async () => {
    const { storage, file, server } = await start();
    writeFileSync(file, `{ "a": ${canary}`);
    const { events, interaction } = person(() => undefined);
    expect(await getKind(storage.login("here", interaction))).toBe("storage");
    expect(events).toEqual([]);
    expect(server.grants).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe(`{ "a": ${canary}`);
  });

  test("a provider without encryption throws, and so does an unknown one", async () => {
    const { storage, server } = await start();
    const plain = server.provider({ tokenUrl: "http://example.com/token" });
    expect(() => storage.registerOAuthProvider(plain)).toThrow("use https");
    await expect(storage.login("nobody", person(() => undefined).interaction)).rejects.toThrow(
      "The providers with a login are",
    );
    const noBrowser = setup({ oauthProviders: [{ ...server.provider(), device: undefined } as never] });
    expect(
      await getKind(noBrowser.storage.login("here", person(() => undefined).interaction, { method: "device" })),
    ).toBe("unsupported");
  });
});

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
