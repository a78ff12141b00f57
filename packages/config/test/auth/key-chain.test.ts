/** Credentials in a key chain, on their way there and back. */
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { AuthStorage } from "../../src/auth/auth-storage.ts";
import type { KeyChain } from "../../src/auth/key-chain.ts";
import type { CredentialPlace } from "../../src/auth/move-credentials.ts";
import { createSystemKeyChain } from "../../src/auth/system-key-chain.ts";
import { startAuthorizationServer } from "./authorization-server.ts";
import { setup, storedLogin } from "./kit.ts";

const credentials = {
  anthropic: { type: "oauth", access: "access-1", refresh: "refresh-1", expires: 4_102_444_800_000, note: "kept" },
  groq: { type: "api_key", key: "!print-a-key" },
  openai: { type: "api_key", key: "openai-key-1" },
};
const odd = { type: "of a later version" };

/** `step` is called before each operation and may throw. */
function createChain(step: () => void = () => {}) {
  const secrets = new Map<string, string>();
  const at = (service: string, account: string) => {
    step();
    return `${service}|${account}`;
  };
  const chain: KeyChain = {
    get: async (service, account) => secrets.get(at(service, account)),
    set: async (service, account, secret) => void secrets.set(at(service, account), secret),
    delete: async (service, account) => void secrets.delete(at(service, account)),
  };
  return { chain, secrets };
}

/** A directory with credentials in either place, whose disk, key chain and settings fail from some operation on. */
async function createMove(from: CredentialPlace) {
  let left = Infinity;
  let place: CredentialPlace = from;
  const step = () => {
    if (left-- <= 0) throw Object.assign(new Error("The machine stopped."), { code: "EIO" });
  };
  const { chain, secrets } = createChain(step);
  const fileSystem = new Proxy(nodeFileSystem, {
    get:
      (fs, name: keyof FileSystem) =>
      async (...args: never[]) => {
        step();
        return await (fs[name] as (...args: never[]) => unknown)(...args);
      },
  });
  const kit = setup({ fileSystem, keyChain: () => (place === "keychain" ? chain : undefined) });
  kit.write({ ...credentials, odd });
  const choose = async (next: CredentialPlace) => {
    step();
    place = next;
  };
  const move = (to: CredentialPlace) => kit.storage.move(to, { chain, choose });
  if (from === "keychain") await move("keychain");
  /** Reads what a process that starts afterwards reads. */
  const readAll = async () => {
    left = Infinity;
    const other = AuthStorage.create(kit.directory, { keyChain: () => (place === "keychain" ? chain : undefined) });
    const names = Object.keys(credentials);
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await other.get(name)] as const)));
  };
  return { ...kit, move, readAll, secrets, getPlace: () => place, stopAfter: (steps: number) => void (left = steps) };
}

describe("moving credentials", () => {
  test("all of them are in the key chain afterwards, and back in the file after that", async () => {
    const { move, readAll, read, secrets, getPlace, storage } = await createMove("file");
    expect(await move("keychain")).toEqual(Object.keys(credentials));
    expect(getPlace()).toBe("keychain");
    expect(read()).toEqual({
      anthropic: { type: "oauth", keyChain: true },
      groq: { type: "api_key", keyChain: true },
      openai: { type: "api_key", keyChain: true },
      odd,
    });
    expect(secrets.size).toBe(3);
    expect(await readAll()).toEqual(credentials);
    expect((await storage.list()).map(({ place }) => place)).toEqual(["keychain", "keychain", "keychain"]);
    expect(await move("keychain")).toEqual([]);
    expect(await move("file")).toEqual(Object.keys(credentials));
    expect([getPlace(), secrets.size, read()]).toEqual(["file", 0, { ...credentials, odd }]);
    expect(await readAll()).toEqual(credentials);
  });

  test.each(["file", "keychain"] as const)(
    "a crash at any moment on the way from the %s loses nothing",
    async (from) => {
      const to = from === "file" ? "keychain" : "file";
      for (let steps = 0; ; steps++) {
        const { move, readAll, stopAfter } = await createMove(from);
        stopAfter(steps);
        const isMoved = await move(to).then(
          () => true,
          () => false,
        );
        expect(await readAll(), `after ${steps} steps`).toEqual(credentials);
        if (isMoved && steps > 60) break;
      }
    },
  );

  test("if the key chain keeps nothing, or one credential is not in it, nothing is moved and the reason is told", async () => {
    const { move, read, getPlace, secrets, storage } = await createMove("keychain");
    secrets.delete([...secrets.keys()].find((name) => name.endsWith("groq"))!);
    const before = read();
    await expect(move("file")).rejects.toThrow(/groq cannot be moved, so none was\. .*no such entry/);
    expect([getPlace(), read(), secrets.size]).toEqual(["keychain", before, 2]);
    const forgetful: KeyChain = { ...createChain().chain, get: async () => undefined };
    const choose = () => Promise.reject(new Error("It must not be chosen."));
    await expect(storage.move("keychain", { chain: forgetful, choose })).rejects.toThrow(
      "did not return what was stored",
    );
  });

  test("what could not be deleted from the key chain is told, and removed by the next move", async () => {
    const { move, readAll, secrets, notices, storage } = await createMove("keychain");
    const { chain } = createChain();
    const refusing: KeyChain = {
      ...chain,
      get: async (service, account) => secrets.get(`${service}|${account}`),
      delete: () => Promise.reject(new Error("locked")),
    };
    await storage.move("file", { chain: refusing, choose: async () => {} });
    expect(notices).toMatchObject([{ message: expect.stringContaining("could not be deleted") }]);
    expect([await readAll(), secrets.size]).toEqual([credentials, 3]);
    await move("file");
    expect(secrets.size).toBe(0);
  });
});

test("a login in the key chain is renewed there", async () => {
  const clock = createFakeClock();
  const server = await startAuthorizationServer();
  const { chain, secrets } = createChain();
  const { storage, write, read } = setup({ clock, oauthProviders: [server.provider()], keyChain: chain });
  write(storedLogin(server, clock.now() - 1));
  await storage.move("keychain", { chain, choose: async () => {} });
  const outcome = await storage.getApiKey("here");
  expect(outcome).toMatchObject({ kind: "found", source: "stored" });
  expect(read()).toEqual({ here: { type: "oauth", keyChain: true } });
  const stored = JSON.parse([...secrets.values()][0]!) as object;
  expect(stored).toMatchObject({ access: (outcome as { key: string }).key, note: "kept" });
});

test("a key chain that the setting turned off is named with the command that turns it on", async () => {
  const { chain } = createChain();
  let isOn = true;
  const { storage } = setup({ keyChain: () => (isOn ? chain : undefined) });
  await storage.set("groq", { type: "api_key", key: "k-1" });
  isOn = false;
  const outcome = await storage.getApiKey("groq");
  expect(outcome).toMatchObject({ failure: { message: expect.stringContaining("tau auth move keychain") } });
  await expect(storage.remove("groq")).rejects.toThrow("tau auth move keychain");
});

test("a library that cannot be loaded is a failure that says what to do, and nothing goes to the file", async () => {
  const keyChain = createSystemKeyChain(() => Promise.reject(new Error("Cannot find module")));
  const { storage, write, read } = setup({ keyChain });
  write({ groq: { type: "api_key", keyChain: true } });
  const advice = /@napi-rs\/keyring is not installed.*tau config set auth\.store file/;
  expect(await storage.getApiKey("groq")).toMatchObject({ failure: { message: expect.stringMatching(advice) } });
  await expect(storage.set("openai", { type: "api_key", key: "k-1" })).rejects.toThrow(advice);
  await expect(storage.move("keychain", { chain: keyChain, choose: async () => {} })).rejects.toThrow(advice);
  expect(read()).toEqual({ groq: { type: "api_key", keyChain: true } });
});
