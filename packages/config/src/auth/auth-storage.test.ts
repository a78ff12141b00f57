import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AuthStorageOptions } from "./auth-options.ts";
import { AuthStorage } from "./auth-storage.ts";
import type { Credential } from "./credential.ts";
import type { AuthNotice } from "./failure.ts";
import type { KeyChain } from "./key-chain.ts";
import { createKeyCommands } from "./key-command.ts";

const canary = "sk-fake-canary";
const host = "https://api.anthropic.com";

function start(options: AuthStorageOptions & { variables?: Record<string, string> } = {}) {
  const root = mkdtempSync(join(tmpdir(), "tau-auth-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, "agent");
  const file = join(directory, "auth.json");
  const notices: AuthNotice[] = [];
  const env = (name: string) => options.variables?.[name];
  const open = () => AuthStorage.create(directory, { env, onNotice: (each) => notices.push(each), ...options });
  const write = (text: string, mode = 0o600) => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(file, text);
    chmodSync(file, mode);
  };
  return { root, directory, file, notices, open, storage: open(), write, text: () => readFileSync(file, "utf8") };
}

const getMode = (path: string) => (statSync(path).mode & 0o777).toString(8);
const apiKey = (key: string): Credential => ({ type: "api_key", key });

describe("the file", () => {
  test("reading a file that does not exist creates nothing", async () => {
    const { storage, root, notices } = start();
    expect(await storage.get("anthropic")).toBeUndefined();
    expect(await storage.list()).toEqual([]);
    expect(await storage.has("anthropic")).toBe(false);
    expect(await storage.remove("anthropic").then(() => readdirSync(root))).toEqual(["agent"]);
    expect(notices).toEqual([]);
  });

  test("a credential that is set is there for other storages, and only its owner can read the file", async () => {
    const { storage, open, directory, file } = start();
    await storage.set("anthropic", apiKey(canary));
    await storage.set("x", { type: "oauth", access: "a", refresh: "r", expires: 5, accountId: "7" });
    expect(await open().get("x")).toEqual({ type: "oauth", access: "a", refresh: "r", expires: 5, accountId: "7" });
    expect(await open().list()).toEqual([
      { provider: "anthropic", type: "api_key", source: "stored", place: "file" },
      { provider: "x", type: "oauth", source: "stored", place: "file" },
    ]);
    expect([getMode(file), getMode(directory)]).toEqual(["600", "700"]);
    expect(await storage.remove("x")).toBe(true);
    expect(await storage.remove("x")).toBe(false);
    expect(await open().get("x")).toBeUndefined();
  });

  test("a file and a directory that others can read are made private, with one notice", async () => {
    const { storage, directory, file, write, notices } = start();
    write(JSON.stringify({ anthropic: apiKey(canary) }), 0o644);
    chmodSync(directory, 0o755);
    expect(await storage.getApiKey("anthropic", { host })).toMatchObject({ kind: "found", key: canary });
    await storage.get("anthropic");
    expect([getMode(file), getMode(directory)]).toEqual(["600", "700"]);
    expect(notices.map(({ kind, path }) => [kind, path])).toEqual([
      ["permissions", directory],
      ["permissions", file],
    ]);
  });

  test("a directory that all users share, such as /tmp, stays as it is", async () => {
    const { storage, directory, file, write } = start();
    write("{}", 0o644);
    chmodSync(directory, 0o1777);
    await storage.get("x");
    expect([getMode(file), statSync(directory).mode & 0o7777]).toEqual(["600", 0o1777]);
  });

  test("the directory of a file that was given by its path is not changed", async () => {
    const { directory, file, write } = start();
    write("{}", 0o640);
    chmodSync(directory, 0o755);
    await AuthStorage.create(file).get("x");
    expect([getMode(file), getMode(directory)]).toEqual(["600", "755"]);
  });

  test("a link to the file stays a link", async () => {
    const { storage, directory, file, root } = start();
    mkdirSync(directory);
    const real = join(root, "elsewhere.json");
    writeFileSync(real, "{}", { mode: 0o600 });
    symlinkSync(real, file);
    await storage.set("x", apiKey("k"));
    expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({ x: apiKey("k") });
  });

  test("entries and fields that this version does not know are kept", async () => {
    const { storage, write, text } = start();
    const unknown = {
      future: { type: "passkey", blob: [1, { two: 3 }] },
      odd: 7,
      anthropic: { type: "api_key", key: "k", label: "work", env: { A: "b" } },
    };
    // A byte order mark, as some editors write it.
    write(`\uFEFF${JSON.stringify(unknown)}`);
    await storage.set("x", apiKey("k"));
    expect(JSON.parse(text())).toEqual({ ...unknown, x: apiKey("k") });
    expect(await storage.get("anthropic")).toEqual(unknown.anthropic);
  });

  test("any set of providers and keys is read back, whatever their names", async () => {
    const { storage, open } = start();
    const names = fc.oneof(fc.constantFrom("__proto__", "constructor", "toString"), fc.string({ minLength: 1 }));
    const credentials = fc.dictionary(
      names.filter((name) => name.trim() !== ""),
      fc.string(),
      { maxKeys: 4 },
    );
    await fc.assert(
      fc.asyncProperty(credentials, async (keys) => {
        const wanted = Object.entries(keys);
        for (const { provider } of await storage.list()) await storage.remove(provider);
        for (const [name, key] of wanted) await storage.set(name, apiKey(key));
        for (const [name, key] of wanted) expect(await open().get(name)).toEqual(apiKey(key));
        expect((await open().list()).map(({ provider }) => provider)).toEqual(wanted.map(([name]) => name).sort());
      }),
      { numRuns: 12 },
    );
  });

  test.each([
    ["cut off", `{\n  "anthropic": { "type": "api_key",\n    "key": "${canary}`, 3],
    ["not JSON", `{\n  "anthropic": ${canary}\n}`, 2],
    ["a list", `[]`, 1],
    ["with a comment", `// mine\n{}`, 1],
  ])(
    "one that is %s is reported with its line, is not changed, and its last valid content counts",
    async (_name, bad, line) => {
      const { storage, write, notices, text, file, directory } = start();
      await storage.set("anthropic", apiKey(canary));
      write(bad);
      expect(await storage.getApiKey("anthropic", { host })).toMatchObject({ kind: "found", key: canary });
      expect(notices).toMatchObject([{ kind: "damaged", path: file, line }]);
      await expect(storage.set("x", apiKey("k"))).rejects.toMatchObject({ code: "write_failed" });
      await expect(storage.remove("anthropic")).rejects.toThrow(`line ${line}`);
      expect(text()).toBe(bad);
      expect(readdirSync(directory).sort()).toEqual(["auth.json"]);
      const refusal: unknown = await storage.set("x", apiKey("k")).catch((error: unknown) => error);
      expect(JSON.stringify(notices) + inspect(refusal, { depth: 9 })).not.toContain(canary);
      write(JSON.stringify({ x: apiKey("k") }));
      await storage.set("y", apiKey("k"));
      expect((await storage.list()).map(({ provider }) => provider)).toEqual(["x", "y"]);
    },
  );

  test.each([
    ["a directory", "mkdir"],
    ["a pipe that nobody writes to", "mkfifo"],
  ])("one that is %s is reported at once, and the environment still counts", async (_name, make) => {
    const { storage, directory, file, notices } = start({ variables: { ANTHROPIC_API_KEY: "env" } });
    mkdirSync(directory, { recursive: true });
    execFileSync(make, [file]);
    expect(await storage.getApiKey("anthropic", { host })).toMatchObject({ key: "env", source: "environment" });
    expect(notices.at(-1)).toMatchObject({ kind: "unreadable", path: file });
    await expect(storage.set("x", apiKey("k"))).rejects.toMatchObject({ code: "write_failed" });
  });

  test("an entry that cannot be used is reported with file, line and key, and no other key is used instead", async () => {
    const { storage, write, notices, file } = start({ variables: { ANTHROPIC_API_KEY: "env" } });
    write(
      `{\n  "anthropic": {\n    "type": "api_key",\n    "key": ["${canary}"]\n  },\n  "x": { "type": "api_key", "key": "k" }\n}`,
    );
    expect(await storage.getApiKey("anthropic", { host })).toMatchObject({
      kind: "failed",
      failure: { kind: "damaged" },
    });
    const message = `${file}:4: "anthropic.key" has to be a string, not a list. Correct it, or log in again: tau auth login anthropic`;
    expect(notices).toEqual([{ kind: "bad_entry", path: file, line: 4, key: "anthropic.key", message }]);
    expect(JSON.stringify(notices)).not.toContain(canary);
    expect(await storage.get("x")).toEqual(apiKey("k"));
  });

  test.each([
    ["", apiKey("k")],
    ["x", { type: "oauth", access: canary, refresh: "r", expires: "soon" }],
    ["x", { type: "other", key: canary }],
    ["x", { type: "api_key", key: 7 }],
    ["x", { type: "api_key", env: { A: { canary } } }],
  ])("a credential that could not be used throws: %j %j", async (provider, credential) => {
    const { storage } = start();
    const refusal: unknown = await storage.set(provider, credential as Credential).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: "HarnessError", code: "invalid_input" });
    expect(inspect(refusal)).not.toContain(canary);
  });
});

describe("which key is used", () => {
  test("explicit comes before stored, stored before the models file, and that before the environment", async () => {
    let models: { key: string } | undefined = { key: "of-models" };
    const { storage, file } = start({ variables: { ANTHROPIC_API_KEY: "of-env" }, modelsKey: () => models });
    await storage.set("anthropic", apiKey("of-file"));
    storage.setRuntimeApiKey("anthropic", "$explicit!");
    const found = () => storage.getApiKey("anthropic", { host });
    expect(await found()).toEqual({
      kind: "found",
      key: "$explicit!",
      source: "explicit",
      origin: "the one set for this process (--api-key)",
    });
    await storage.removeRuntimeApiKey("anthropic");
    expect(await found()).toEqual({ kind: "found", key: "of-file", source: "stored", origin: `from ${file}` });
    await storage.remove("anthropic");
    expect(await found()).toEqual({ kind: "found", key: "of-models", source: "models", origin: "from models.json" });
    models = undefined;
    expect(await found()).toEqual({
      kind: "found",
      key: "of-env",
      source: "environment",
      origin: "from the environment variable ANTHROPIC_API_KEY",
    });
    expect(await storage.getApiKey("openai", { host })).toMatchObject({ kind: "none" });
  });

  test("a key for another host is skipped, and the reason is about the first that was", async () => {
    const proxy = "https://proxy.corp.example/v1";
    let models: { key: string; host: string } | undefined = { key: "of-models", host: proxy };
    const { storage } = start({ variables: { ANTHROPIC_API_KEY: "of-env" }, modelsKey: () => models });
    await storage.set("anthropic", apiKey(canary));
    expect(await storage.getApiKey("anthropic", { host: proxy })).toMatchObject({ key: "of-models" });
    models = undefined;
    const outcome = await storage.getApiKey("anthropic", { host: proxy });
    expect(outcome).toMatchObject({ kind: "none", reason: expect.stringMatching(/api\.anthropic\.com.*proxy\.corp/) });
    expect(JSON.stringify(outcome)).not.toContain(canary);
    await storage.set("anthropic", { ...apiKey("for-proxy"), host: "proxy.corp.example" });
    expect(await storage.getApiKey("anthropic", { host: proxy })).toMatchObject({ key: "for-proxy" });
    expect(await storage.getApiKey("anthropic", { host })).toMatchObject({ key: "of-env" });
    expect(await storage.getApiKey("anthropic")).toMatchObject({ key: "for-proxy" });
  });

  test("a key of a provider without known hosts is for the host in its entry", async () => {
    const { storage, open } = start();
    await storage.set("mine", apiKey("k"));
    expect(await storage.getApiKey("mine", { host: "a.example" })).toMatchObject({ kind: "none" });
    const { storage: told } = start({ getHosts: () => ["http://192.0.2.1:8000/v1"] });
    await told.set("mine", apiKey("k"));
    expect(await told.getApiKey("mine", { host: "http://192.0.2.1:8000" })).toMatchObject({ key: "k" });
    await storage.set("mine", { ...apiKey("k"), host: "https://a.example/v1" });
    expect(await open().getApiKey("mine", { host: "a.example" })).toMatchObject({ key: "k" });
  });

  test("variables of the entry have precedence over those of the process", async () => {
    const { storage } = start({ variables: { A: "outer", B: "b" } });
    await storage.set("x", { type: "api_key", key: "$A-${B}", env: { A: "inner" } });
    expect(await storage.getApiKey("x")).toMatchObject({ key: "inner-b" });
    await storage.set("anthropic", { type: "api_key", env: { ANTHROPIC_API_KEY: "of-entry" } });
    expect(await storage.getApiKey("anthropic", { host })).toMatchObject({ key: "of-entry", source: "environment" });
  });

  test("a stored key that cannot be resolved is a failure, and no other key is used instead", async () => {
    const { storage, file } = start({ variables: { ANTHROPIC_API_KEY: "of-env" } });
    await storage.set("anthropic", apiKey("$NOT_SET"));
    const outcome = await storage.getApiKey("anthropic", { host });
    expect(outcome).toMatchObject({ kind: "failed", source: "stored", failure: { kind: "missing_variable" } });
    expect(JSON.stringify(outcome)).toContain(file);
  });

  test("commands run only from the user's own files", async () => {
    const commands = createKeyCommands();
    let isOwn = false;
    const { storage } = start({ commands, modelsKey: () => ({ key: "!echo from-models", isOwn }) });
    await storage.set("x", apiKey("!echo from-file"));
    expect(await storage.getApiKey("x")).toMatchObject({ key: "from-file" });
    expect(await storage.getApiKey("y")).toMatchObject({ kind: "failed", failure: { kind: "command" } });
    isOwn = true;
    expect(await storage.getApiKey("y")).toMatchObject({ key: "from-models" });
    const memory = AuthStorage.inMemory({ x: apiKey("!echo no") });
    expect(await memory.getApiKey("x")).toMatchObject({ kind: "failed", failure: { kind: "command" } });
  });

  test("has() runs no commands", async () => {
    const { storage, root } = start();
    await storage.set("x", apiKey(`!touch '${join(root, "ran")}'`));
    expect([await storage.has("x"), (await storage.list()).length]).toEqual([true, 1]);
    expect(readdirSync(root)).not.toContain("ran");
  });
});

describe("a key that is stored under a former id of its provider", () => {
  const former = "azure-openai-responses";
  const azure = "https://mine.openai.azure.com/openai/v1";

  test("is found, listed and replaced under the current id", async () => {
    const { storage, write, text } = start();
    write(JSON.stringify({ [former]: apiKey("old-key"), xai: apiKey("other") }));
    for (const name of ["azure", former]) {
      expect(await storage.getApiKey(name, { host: azure })).toMatchObject({ kind: "found", key: "old-key" });
      expect(await storage.get(name)).toEqual(apiKey("old-key"));
    }
    expect((await storage.list()).map(({ provider }) => provider)).toEqual(["azure", "xai"]);
    await storage.set(former, apiKey("new-key"));
    expect(JSON.parse(text())).toEqual({ azure: apiKey("new-key"), xai: apiKey("other") });
  });

  test("is removed under either id", async () => {
    const { storage, write, text } = start();
    write(JSON.stringify({ [former]: apiKey("old-key") }));
    expect(await storage.remove("azure")).toBe(true);
    expect(JSON.parse(text())).toEqual({});
    storage.setRuntimeApiKey(former, "for-now");
    expect(await storage.getApiKey("azure")).toMatchObject({ key: "for-now", source: "explicit" });
  });
});

test("in memory the same rules apply and nothing is written", async () => {
  const storage = AuthStorage.inMemory({ anthropic: apiKey("k") });
  await storage.set("x", apiKey("y"));
  expect(await storage.getApiKey("anthropic", { host })).toMatchObject({ key: "k" });
  expect((await storage.list()).map(({ provider }) => provider)).toEqual(["anthropic", "x"]);
  expect(() => AuthStorage.inMemory({ x: { type: "nothing" } as never })).toThrow("type");
});

describe("with a key chain", () => {
  function fakeChain() {
    const kept = new Map<string, string>();
    let isLocked = false;
    const at = (service: string, account: string) => {
      if (isLocked) throw new Error(`locked; ${[...kept.values()].join()}`);
      return `${service}|${account}`;
    };
    const chain: KeyChain = {
      get: async (service, account) => kept.get(at(service, account)),
      set: async (service, account, secret) => void kept.set(at(service, account), secret),
      delete: async (service, account) => void kept.delete(at(service, account)),
    };
    return { kept, chain, lock: (value: boolean) => void (isLocked = value) };
  }

  test("secrets are in the key chain, and the file only says so", async () => {
    const { chain, kept } = fakeChain();
    const { storage, text, open } = start({ keyChain: chain });
    await storage.set("anthropic", apiKey(canary));
    expect(JSON.parse(text())).toEqual({ anthropic: { type: "api_key", keyChain: true } });
    expect(await open().getApiKey("anthropic", { host })).toMatchObject({ kind: "found", key: canary });
    expect(kept.size).toBe(1);
    await storage.remove("anthropic");
    expect([kept.size, JSON.parse(text())]).toEqual([0, {}]);
  });

  test("a key chain that is locked, empty or missing is a failure whose message has no secret", async () => {
    const { chain, kept, lock } = fakeChain();
    const { storage, directory, text } = start({ keyChain: chain });
    await storage.set("anthropic", apiKey(canary));
    const before = text();
    lock(true);
    const outcomes: unknown[] = [await storage.getApiKey("anthropic", { host })];
    outcomes.push(await storage.set("x", apiKey(canary)).catch((error: unknown) => error));
    expect(text()).toBe(before);
    lock(false);
    kept.clear();
    outcomes.push(await storage.getApiKey("anthropic", { host }));
    outcomes.push(await AuthStorage.create(directory).getApiKey("anthropic", { host }));
    for (const each of [0, 2, 3]) expect(outcomes[each]).toMatchObject({ failure: { kind: "key_chain" } });
    expect(outcomes[1]).toMatchObject({ code: "write_failed" });
    expect(inspect(outcomes, { depth: 9, showHidden: true })).not.toContain(canary);
  });
});

test("inspecting a storage shows no secret", async () => {
  const { storage } = start({ modelsKey: () => ({ key: canary }) });
  storage.setRuntimeApiKey("a", canary);
  await storage.set("b", apiKey(canary));
  await storage.getApiKey("b");
  const memory = AuthStorage.inMemory({ c: apiKey(canary) });
  for (const each of [storage, memory]) {
    expect(`${String(each)}${JSON.stringify(each)}${inspect(each, { depth: 9, showHidden: true })}`).not.toContain(
      canary,
    );
    expect(JSON.stringify(await each.list())).not.toContain(canary);
  }
});

test("listeners are told when the key of the process is removed, and whether another credential is stored", async () => {
  const { storage } = start();
  const changes: unknown[] = [];
  storage.subscribe((change) => changes.push(change));
  await storage.set("a", apiKey("stored"));
  for (const provider of ["a", "b"]) storage.setRuntimeApiKey(provider, "runtime");
  changes.length = 0;
  for (const provider of ["a", "b", "c"]) await storage.removeRuntimeApiKey(provider);
  expect(changes).toEqual([
    { provider: "a", hasCredential: true },
    { provider: "b", hasCredential: false },
  ]);
});
