import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import type { AuthStorage } from "../../src/auth/auth-storage.ts";
import type { CustomLogin } from "../../src/auth/custom-login.ts";
import { setup } from "./kit.ts";

const hour = 3_600_000;

function start(changes: Partial<CustomLogin> = {}) {
  const clock = createFakeClock();
  const kit = setup({ clock });
  const login: CustomLogin = {
    id: "corp",
    name: "Corp",
    login: async () => ({ access: "a1", refresh: "r1", expires: clock.now() + hour, region: "eu" }),
    renew: async (credential) => ({ access: `${credential.access}+`, expires: clock.now() + hour }),
    getKey: ({ access, region }) => `${String(region)}:${access}`,
    ...changes,
  };
  return { clock, login, remove: kit.storage.registerLogin(login), ...kit };
}

const getKey = async (storage: AuthStorage) => {
  const outcome = await storage.getApiKey("corp");
  if (outcome.kind === "failed") return outcome.failure.message;
  return outcome.kind === "found" ? outcome.key : outcome.kind;
};

test("what a login returns is stored, and its function makes the key of it", async () => {
  const { storage, read } = start();
  expect(await storage.login("corp", { notify: () => {} })).toEqual({ kind: "done" });
  expect(read()["corp"]).toMatchObject({ type: "oauth", access: "a1", refresh: "r1", region: "eu" });
  expect(await getKey(storage)).toBe("eu:a1");
});

test("a token that expires is renewed once for all who ask, and fields that are not renewed are kept", async () => {
  let renewals = 0;
  const { storage, clock, read } = start({
    renew: async () => ({ access: `a${++renewals + 1}`, expires: clock.now() + hour }),
  });
  await storage.login("corp", { notify: () => {} });
  clock.advance(hour - 60_000);
  expect(await Promise.all([getKey(storage), getKey(storage), getKey(storage)])).toEqual(["eu:a2", "eu:a2", "eu:a2"]);
  expect(renewals).toBe(1);
  expect(read()["corp"]).toMatchObject({ access: "a2", refresh: "r1", region: "eu" });
});

test("messages name the login of an extension, which tau auth login does not know", async () => {
  const { storage, clock, write } = start({ renew: () => Promise.reject(new Error("no")) });
  expect(await storage.getApiKey("corp")).toMatchObject({
    reason: "There is no key for corp. Log in or store one: /login corp",
  });
  await storage.login("corp", { notify: () => {} });
  expect(storage.getKeyHint("corp", { source: "stored", origin: "from x" })).toBe(
    "The key is from x. To use another one: /login corp",
  );
  clock.advance(2 * hour);
  expect(await getKey(storage)).toMatch(/log in again: \/login corp$/);
  write({ corp: { type: "oauth" } });
  expect(await getKey(storage)).toMatch(/log in again: \/login corp$/);
});

test("a login whose extension is not loaded says so when it has to be renewed", async () => {
  const { storage, clock, remove } = start();
  await storage.login("corp", { notify: () => {} });
  remove();
  clock.advance(2 * hour);
  expect(await getKey(storage)).toBe(
    "The login to corp cannot be renewed: nothing here has a login for corp. Load the extension that it is from, or remove it: tau auth logout corp",
  );
});

test.each<[string, Partial<CustomLogin>, RegExp]>([
  [
    "throws",
    { renew: () => Promise.reject(new Error("The server said no")) },
    /could not be renewed: The server said no\. If that/,
  ],
  ["returns nothing", { renew: async () => undefined }, /there is no new token/],
  ["changes nothing", { renew: async (credential) => credential }, /there is no new token/],
  ["returns no token", { renew: async () => ({ access: 7 }) }, /gave no valid token/],
])("a renewal that %s is a failure, and the stored login stays", async (_what, changes, message) => {
  const { storage, clock, read } = start(changes);
  await storage.login("corp", { notify: () => {} });
  clock.advance(2 * hour);
  expect(await getKey(storage)).toMatch(message);
  expect(read()["corp"]).toMatchObject({ access: "a1", refresh: "r1" });
});

test("a renewal that never ends is given up, so that others can use the file", async () => {
  let signal: AbortSignal | undefined;
  const { storage, clock } = start({
    renew: (_credential, given) => {
      signal = given;
      return new Promise(() => {});
    },
  });
  await storage.login("corp", { notify: () => {} });
  clock.advance(2 * hour);
  const key = getKey(storage);
  await expect.poll(() => signal).toBeDefined();
  clock.advance(30_000);
  expect(await key).toMatch(/did not renew the login within 30 s/);
  expect(signal?.aborted).toBe(true);
  await storage.set("other", { type: "api_key", key: "k" });
  expect(await storage.get("other")).toMatchObject({ key: "k" });
});

test("a key that never comes is given up, and something that is not text is no key", async () => {
  let calls = 0;
  const never = () => {
    calls++;
    return new Promise<string>(() => {});
  };
  const { storage, clock, login } = start({ getKey: never });
  await storage.login("corp", { notify: () => {} });
  const key = getKey(storage);
  await expect.poll(() => calls).toBe(1);
  clock.advance(10_000);
  expect(await key).toMatch(/gave no key within 10 s/);
  storage.registerLogin({ ...login, getKey: () => undefined as unknown as string });
  expect(await getKey(storage)).toBe("The login to Corp gave no key.");
});

test("a login without a refresh token is renewed too, and a renewal may keep the access token", async () => {
  let renewals = 0;
  const { storage, clock, read } = start({
    login: async () => ({ access: "a1", expires: clock.now() + hour, region: "eu" }),
    renew: async () => {
      renewals++;
      return { expires: clock.now() + hour };
    },
  });
  await storage.login("corp", { notify: () => {} });
  clock.advance(2 * hour);
  expect(await getKey(storage)).toBe("eu:a1");
  expect(read()["corp"]).toMatchObject({ access: "a1", refresh: "", expires: clock.now() + hour });
  expect([await getKey(storage), renewals]).toEqual(["eu:a1", 1]);
});

test("a login that fails or returns nothing stores nothing", async () => {
  const { storage } = start({ login: () => Promise.reject(new Error("The window was closed.")) });
  expect(await storage.login("corp", { notify: () => {} })).toMatchObject({
    kind: "failed",
    failure: { message: "The login to Corp failed: The window was closed." },
  });
  storage.registerLogin({ ...start().login, login: async () => undefined });
  expect(await storage.login("corp", { notify: () => {} })).toMatchObject({ failure: { kind: "server" } });
  expect(await storage.get("corp")).toBeUndefined();
});

test("an abort ends a login that does not listen to its signal, also before it has begun", async () => {
  const controller = new AbortController();
  let begun = 0;
  const { storage } = start({
    login: () => {
      begun++;
      return new Promise(() => {});
    },
  });
  const outcome = storage.login("corp", { notify: () => {} }, { signal: controller.signal });
  await expect.poll(() => begun).toBe(1);
  controller.abort();
  expect(await outcome).toMatchObject({ failure: { kind: "aborted" } });
  const again = await storage.login("corp", { notify: () => {} }, { signal: controller.signal });
  expect([again, begun]).toMatchObject([{ failure: { kind: "aborted" } }, 1]);
});

test("the newest login of a provider counts, also before a built-in one, until it is removed", () => {
  const { storage, login, remove } = start();
  const getName = () => storage.getLogins().find(({ id }) => id === "corp")?.name;
  const removeNewer = storage.registerLogin({ ...login, name: "Newer" });
  expect(getName()).toBe("Newer");
  removeNewer();
  expect(getName()).toBe("Corp");
  remove();
  expect(getName()).toBeUndefined();
  const removeOwn = storage.registerLogin({ ...login, id: "anthropic", name: "Of an extension" });
  const find = () => storage.getLogins().filter(({ id }) => id === "anthropic");
  expect(find()).toEqual([{ id: "anthropic", name: "Of an extension" }]);
  removeOwn();
  expect(find()).toEqual([{ id: "anthropic", name: "Anthropic (Claude Pro or Max)" }]);
});

test("without a key, the hint is to use the login of the extension", () => {
  const { storage, remove } = start();
  expect(storage.getKeyHint("corp")).toBe("Log in: /login corp");
  remove();
  expect(storage.getKeyHint("corp")).toMatch(/models\.json/);
});
