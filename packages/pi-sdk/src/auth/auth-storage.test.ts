import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { registerOAuthProvider, resetOAuthProviders } from "@tau/pi/internal";
import { AuthStorage } from "./auth-storage.ts";
import { clearConfigValueCache } from "./config-value.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "pi-auth-"));
  clearConfigValueCache();
});
afterEach(() => {
  resetOAuthProviders();
  vi.unstubAllEnvs();
  delete process.env["PI_TEST_KEY"];
  rmSync(directory, { recursive: true });
});

const path = () => join(directory, "auth.json");
const read = () => JSON.parse(readFileSync(path(), "utf8"));
const key = (value: string) => ({ type: "api_key" as const, key: value });

test("a key is itself, a variable, or what a command prints once", async () => {
  process.env["PI_TEST_KEY"] = "from the environment";
  const counter = join(directory, "count");
  const storage = AuthStorage.inMemory({
    plain: key("sk-1"),
    variable: key("PI_TEST_KEY"),
    command: key(`!echo x >> ${counter}; echo secret`),
    failing: key("!exit 1"),
  });
  expect(await storage.getApiKey("plain")).toBe("sk-1");
  expect(await storage.getApiKey("variable")).toBe("from the environment");
  expect(await storage.getApiKey("command")).toBe("secret");
  expect(await storage.getApiKey("command")).toBe("secret");
  expect(readFileSync(counter, "utf8")).toBe("x\n");
  expect(await storage.getApiKey("failing")).toBeUndefined();
});

test("the key of this run comes first and the fallback last", async () => {
  const storage = AuthStorage.inMemory({ a: key("stored") });
  storage.setFallbackResolver((provider) => (provider === "b" ? "fallback" : undefined));
  storage.setRuntimeApiKey("a", "runtime");
  expect(await storage.getApiKey("a")).toBe("runtime");
  storage.removeRuntimeApiKey("a");
  expect(await storage.getApiKey("a")).toBe("stored");
  expect(await storage.getApiKey("b")).toBe("fallback");
  expect([storage.hasAuth("a"), storage.hasAuth("b"), storage.hasAuth("c")]).toEqual([true, true, false]);
});

test("a change keeps what others wrote to the file, which only its owner can read", () => {
  writeFileSync(path(), JSON.stringify({ a: key("1") }));
  const storage = AuthStorage.create(path());
  writeFileSync(path(), JSON.stringify({ a: key("1"), b: key("2") }));
  storage.set("c", key("3"));
  expect(Object.keys(read())).toEqual(["a", "b", "c"]);
  storage.remove("a");
  expect(Object.keys(read())).toEqual(["b", "c"]);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(storage.list()).toEqual(["c"]);
  storage.reload();
  expect(storage.list()).toEqual(["b", "c"]);
});

test("a damaged file is reported and not overwritten", () => {
  writeFileSync(path(), "{ damaged");
  const storage = AuthStorage.create(path());
  expect(storage.drainErrors()).toHaveLength(1);
  expect(storage.drainErrors()).toEqual([]);
  storage.set("a", key("1"));
  expect(storage.get("a")).toEqual(key("1"));
  expect(readFileSync(path(), "utf8")).toBe("{ damaged");
});

test("a token that has expired is renewed once, however many ask for it", async () => {
  let renewals = 0;
  registerOAuthProvider({
    id: "acme",
    name: "Acme",
    refreshToken: async (credentials) => ({
      ...credentials,
      access: `new-${++renewals}`,
      expires: Date.now() + 60_000,
    }),
    getApiKey: ({ access }) => `token ${access}`,
  });
  const expired = { type: "oauth" as const, access: "old", refresh: "r", expires: 0 };
  writeFileSync(path(), JSON.stringify({ acme: expired }));
  const storage = AuthStorage.create(path());
  const keys = await Promise.all([storage.getApiKey("acme"), storage.getApiKey("acme")]);
  expect(keys).toEqual(["token new-1", "token new-1"]);
  expect(read().acme).toMatchObject({ access: "new-1", refresh: "r" });
});

test("what is stored and removed while a token is renewed stays so", async () => {
  const expired = { type: "oauth" as const, access: "old", refresh: "r", expires: 0 };
  const data = { acme: expired, b: key("2") };
  writeFileSync(path(), JSON.stringify(data));
  for (const storage of [AuthStorage.create(path()), AuthStorage.inMemory(data)]) {
    const refreshToken = async (credentials: object) => {
      storage.set("c", key("3"));
      storage.remove("b");
      return { ...credentials, access: "new", refresh: "r", expires: Date.now() + 60_000 };
    };
    registerOAuthProvider({ id: "acme", name: "Acme", refreshToken });
    expect(await storage.getApiKey("acme")).toBe("new");
    for (const reload of [() => {}, () => storage.reload()]) {
      reload();
      expect(storage.getAll()).toMatchObject({ acme: { access: "new" }, c: key("3") });
      expect(storage.has("b")).toBe(false);
    }
  }
});

test("the file behind a link is replaced, and the link stays", () => {
  writeFileSync(join(directory, "real.json"), "{}", { mode: 0o644 });
  symlinkSync("real.json", path());
  AuthStorage.create(path()).set("a", key("1"));
  expect(lstatSync(path()).isSymbolicLink()).toBe(true);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(read()).toEqual({ a: key("1") });
});

test("a token that cannot be renewed is kept, no other key takes its place, and the failure is reported", async () => {
  registerOAuthProvider({
    id: "acme",
    name: "Acme",
    refreshToken: async () => {
      throw new Error("offline");
    },
  });
  const expired = { type: "oauth" as const, access: "old", refresh: "r", expires: 0 };
  const storage = AuthStorage.inMemory({ acme: expired, anthropic: expired });
  // A key of the environment or of a program is billed otherwise, so it does not take the place of the token.
  storage.setFallbackResolver(() => "other key");
  vi.stubEnv("ANTHROPIC_API_KEY", "billed");
  expect(await storage.getApiKey("acme")).toBeUndefined();
  expect(await storage.getApiKey("anthropic")).toBeUndefined();
  expect(storage.drainErrors().map(({ message }) => message)).toEqual(["offline"]);
  expect(storage.get("acme")).toMatchObject({ refresh: "r" });
});

test("a login of an extension stores its tokens", async () => {
  registerOAuthProvider({ id: "acme", name: "Acme", login: async () => ({ access: "a", refresh: "r", expires: 1 }) });
  const storage = AuthStorage.inMemory();
  await storage.login("acme", {});
  expect(storage.get("acme")).toEqual({ type: "oauth", access: "a", refresh: "r", expires: 1 });
  storage.logout("acme");
  expect(storage.has("acme")).toBe(false);
  await expect(storage.login("other", {})).rejects.toThrow("no login for other");
});

test("a login that tau has renewed in the file counts", async () => {
  const login = (access: string, expires: number) => ({ type: "oauth", access, refresh: "r", expires });
  writeFileSync(path(), JSON.stringify({ anthropic: login("old", 1) }));
  const storage = AuthStorage.create(path());
  expect(await storage.getApiKey("anthropic")).toBeUndefined();
  writeFileSync(path(), JSON.stringify({ anthropic: login("new", Date.now() + 60_000) }));
  expect(await storage.getApiKey("anthropic")).toBe("new");
});
