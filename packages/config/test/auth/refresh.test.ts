import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import { nodeFileSystem } from "@tau/tools/platform";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AuthStorage } from "../../src/auth/auth-storage.ts";
import { canary, startAuthorizationServer } from "./authorization-server.ts";
import { scratch, setup, storedLogin } from "./kit.ts";

const hour = 3_600_000;

async function start(expiresInMs: number, extra: Parameters<typeof setup>[0] = {}) {
  const clock = createFakeClock();
  const server = await startAuthorizationServer();
  const options = { clock, oauthProviders: [server.provider()], ...extra };
  const kit = setup(options);
  kit.write({ other: { type: "api_key", key: "k" }, ...storedLogin(server, clock.now() + expiresInMs) });
  return { clock, server, options, ...kit };
}

const getKey = async (storage: AuthStorage, signal?: AbortSignal) => {
  const outcome = await storage.getApiKey("here", signal ? { signal } : {});
  if (outcome.kind === "found") return outcome.key;
  return outcome.kind === "failed" ? outcome.failure.kind : outcome.kind;
};

test("logins and renewals go through the proxy of the environment", async () => {
  const tunnels: string[] = [];
  const proxy = createServer().on("connect", (request, socket) => {
    tunnels.push(request.url ?? "");
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const server = await startAuthorizationServer();
  const provider = server.provider({
    tokenUrl: "https://login.invalid/token",
    device: { dialect: "standard", startUrl: "https://start.invalid/device" },
  });
  const env = (name: string) => (name === "https_proxy" ? `http://127.0.0.1:${port}` : undefined);
  const { storage } = await start(-1, { oauthProviders: [provider], env });
  expect(await getKey(storage)).toBe("network");
  expect(await storage.login("here", { notify: () => {} }, { method: "device" })).toMatchObject({ kind: "failed" });
  expect(tunnels).toEqual(["login.invalid:443", "start.invalid:443"]);
});

describe("one process", () => {
  test("a valid token is used without a request", async () => {
    const { storage, server } = await start(hour);
    expect(await getKey(storage)).toBe("access-first");
    expect(server.grants).toEqual([]);
  });

  test("a token is renewed some minutes before it expires, and the other fields are kept", async () => {
    const { storage, server, clock, read } = await start(hour);
    await clock.advance(hour - 5 * 60_000 - 1);
    expect(await getKey(storage)).toBe("access-first");
    await clock.advance(1);
    const key = await getKey(storage);
    expect(key).toContain(canary);
    expect(server.grants).toEqual(["refresh_token"]);
    expect(read()["here"]).toMatchObject({ type: "oauth", access: key, note: "kept", expires: clock.now() + hour });
    expect(read()["here"]?.refresh).toContain(canary);
    expect(read()["other"]).toEqual({ type: "api_key", key: "k" });
  });

  test("a token that expires during a long answer is renewed at the next call", async () => {
    const { storage, clock, server } = await start(-1);
    const keys: string[] = [];
    for (let call = 0; call < 3; call++) {
      keys.push(await getKey(storage));
      // The answer takes longer than the token lives.
      await clock.advance(2 * hour);
    }
    expect(new Set(keys).size).toBe(3);
    expect(server.grants).toHaveLength(3);
  });

  test("a token that lives a minute is not renewed at every call", async () => {
    const { storage, server, clock } = await start(-1);
    server.lifetime = 60;
    const first = await getKey(storage);
    await clock.advance(47_000);
    expect(await getKey(storage)).toBe(first);
    await clock.advance(1_000);
    expect(await getKey(storage)).not.toBe(first);
    expect(server.grants).toHaveLength(2);
  });

  test("calls at the same time, also of several storages, make one request", async () => {
    const { storage, server, directory, options } = await start(-1, { clock: systemClock });
    const second = AuthStorage.create(directory, { oauthProviders: options.oauthProviders });
    const keys = await Promise.all([storage, storage, second, storage, second].map((each) => getKey(each)));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toContain(canary);
    expect(server.grants).toEqual(["refresh_token"]);
  });

  test("a cancelled call does not stop the renewal, whose tokens are stored", async () => {
    const { storage, server, read } = await start(-1);
    const cancel = new AbortController();
    server.beforeRefresh = async () => cancel.abort();
    expect(await getKey(storage, cancel.signal)).toBe("aborted");
    const key = await getKey(storage);
    expect(key).toContain(canary);
    expect(read()["here"]?.access).toBe(key);
    expect(server.grants).toEqual(["refresh_token"]);
  });

  test("a refused renewal says to log in again and changes nothing", async () => {
    const { storage, server, file } = await start(-1);
    const before = readFileSync(file, "utf8");
    server.refreshTokens.clear();
    const outcome = await storage.getApiKey("here");
    expect(outcome).toMatchObject({ kind: "failed", source: "stored", failure: { kind: "login_required" } });
    expect(JSON.stringify(outcome)).toContain("auth login here");
    expect(JSON.stringify(outcome)).not.toMatch(/canary|refresh-first|access-first/);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test.each([
    ["garbage", { status: 200, body: canary }],
    ["nothing", { status: 200, body: "" }],
    ["far too much", { status: 200, body: canary.repeat(100_000) }],
    ["an error", { status: 500, body: canary }],
  ])("after an answer with %s nothing is changed, and the next call asks again", async (_name, raw) => {
    const { storage, server, file } = await start(-1);
    const before = readFileSync(file, "utf8");
    server.raw = raw;
    expect(await getKey(storage)).toBe("server");
    expect(readFileSync(file, "utf8")).toBe(before);
    server.raw = undefined;
    expect(await getKey(storage)).toContain(canary);
  });

  test("while a token is valid, a server that is down causes only a notice", async () => {
    const { storage, server, notices, clock } = await start(60_000);
    await server.close();
    expect(await getKey(storage)).toBe("access-first");
    expect(notices).toMatchObject([{ kind: "refresh_failed", key: "here" }]);
    await clock.advance(60_000);
    expect(await getKey(storage)).toBe("network");
    expect(JSON.stringify(notices)).not.toMatch(/canary|refresh-first|access-first/);
  });

  test("a logout during a renewal counts", async () => {
    const { storage, server, read } = await start(-1);
    let removing: Promise<boolean> | undefined;
    server.beforeRefresh = async () => void (removing = storage.remove("here"));
    await getKey(storage);
    expect(await removing).toBe(true);
    expect(read()["here"]).toBeUndefined();
    expect(await getKey(storage)).toBe("none");
  });

  test("new tokens that cannot be written are used by this process, and stored as soon as possible", async () => {
    let isFull = false;
    const refuse = () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" }));
    const fileSystem = {
      ...nodeFileSystem,
      rename: (from: string, to: string) =>
        isFull && to.endsWith("auth.json") ? refuse() : nodeFileSystem.rename(from, to),
    };
    const { storage, server, clock, notices, read } = await start(-1, { fileSystem });
    isFull = true;
    const key = await getKey(storage);
    expect(key).toContain(canary);
    expect(notices).toMatchObject([{ kind: "not_saved", key: "here" }]);
    expect(await getKey(storage)).toBe(key);
    expect(read()["here"]?.access).toBe("access-first");
    await clock.advance(hour);
    // Not even a server in trouble makes us forget what only we know.
    server.raw = { status: 500, body: "" };
    expect(await getKey(storage)).toBe("server");
    server.raw = undefined;
    const next = await getKey(storage);
    expect(next).not.toBe(key);
    isFull = false;
    expect(await getKey(storage)).toBe(next);
    expect(read()["here"]?.access).toBe(next);
    expect(server.grants).toHaveLength(2);
  });

  test("a login of a provider that is not registered is used while it is valid", async () => {
    const { storage, clock } = await start(hour, { oauthProviders: [] });
    expect(await getKey(storage)).toBe("access-first");
    await clock.advance(hour);
    expect(await getKey(storage)).toBe("unsupported");
  });
});

describe("several processes", () => {
  let script: string;
  let built: string;
  beforeAll(async () => {
    built = mkdtempSync(join(tmpdir(), "tau-asker-"));
    script = join(built, "asker.mjs");
    await build({
      entryPoints: [join(import.meta.dirname, "asker.ts")],
      outfile: script,
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["@tau/source"],
      logLevel: "silent",
      external: ["google-auth-library", "@napi-rs/keyring"],
    });
  });
  afterAll(() => rmSync(built, { recursive: true, force: true }));

  /** Starts them all, lets them go at once, and gives what each said. */
  async function together(argumentLists: string[][]): Promise<string[]> {
    const children = argumentLists.map((args) => spawn(process.execPath, [script, ...args], { stdio: "pipe" }));
    onTestFinished(() => children.forEach((child) => void child.kill("SIGKILL")));
    const said = children.map(listen);
    await Promise.all(said.map(({ ready }) => ready));
    for (const child of children) child.stdin.write("go\n");
    return await Promise.all(said.map(({ rest }) => rest));
  }

  function listen(child: ChildProcess) {
    let [text, errors] = ["", ""];
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
    const ended = once(child, "close").then(() => {
      expect(errors).toBe("");
      return text.replace("ready\n", "");
    });
    const ready = new Promise<void>((resolve) => {
      child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.includes("ready\n")) resolve();
      });
      child.once("close", () => resolve());
    });
    return { ready, rest: ended };
  }

  test("three processes that need a new token at the same time make one request, and all get the same token", async () => {
    const server = await startAuthorizationServer();
    const { directory, write, read } = setup();
    write(storedLogin(server, 1_000));
    server.beforeRefresh = () => new Promise((resolve) => setTimeout(resolve, 150));
    const said = await together(Array.from({ length: 3 }, () => [directory, server.url, "key"]));
    const token = read()["here"]?.access;
    expect(token).toContain(canary);
    expect(said.map((line) => JSON.parse(line) as unknown)).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ kind: "found", key: token, source: "stored" })),
    );
    expect(server.grants).toEqual(["refresh_token"]);
  });

  test("credentials that two processes store at the same time are all there, and only the owner can read them", async () => {
    const directory = scratch();
    chmodSync(directory, 0o700);
    await together(["a", "b"].map((name) => [directory, "", "set", name, "12"]));
    const storage = AuthStorage.create(directory);
    const wanted = ["a", "b"].flatMap((name) => Array.from({ length: 12 }, (_unused, at) => `${name}-${at}`));
    expect((await storage.list()).map(({ provider }) => provider)).toEqual(wanted.sort());
    expect((await nodeFileSystem.stat(join(directory, "auth.json"))).mode & 0o777).toBe(0o600);
  });
});
