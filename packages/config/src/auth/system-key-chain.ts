/** The key chain of the operating system: Keychain on macOS, Credential Manager on Windows, Secret Service on Linux. */
import { createRequire } from "node:module";
import type * as Keyring from "@napi-rs/keyring";
import { HarnessError } from "@tau/protocol";
import type { Settings } from "../settings/schema.ts";
import type { KeyChain } from "./key-chain.ts";

type Library = Pick<typeof Keyring, "AsyncEntry">;

/** Otherwise the library falls back to the kernel's key ring, which is empty after a reboot. */
const options = { linux: { store: "secret-service" } } as const;

/** Not an `import`: bundlers would have to take a native library into a bundle, which they refuse. */
const loadKeyring = async (): Promise<Library> => createRequire(import.meta.url)("@napi-rs/keyring") as Library;

/** Nothing is loaded before the first call. Every call rejects with a `HarnessError` if the library cannot be loaded. */
export function createSystemKeyChain(load: () => Promise<Library> = loadKeyring): KeyChain {
  let library: Promise<Library> | undefined;
  const getEntry = async (service: string, account: string) => {
    const { AsyncEntry } = await (library ??= load().catch(refuse));
    return new AsyncEntry(service, account, options);
  };
  return {
    get: async (service, account) => (await (await getEntry(service, account)).getPassword()) ?? undefined,
    set: async (service, account, secret) => await (await getEntry(service, account)).setPassword(secret),
    delete: async (service, account) => void (await (await getEntry(service, account)).deletePassword()),
  };
}

/** For `AuthStorage`: the key chain of the operating system as long as the setting says so. */
export function chooseKeyChain(
  getSettings: () => Pick<Settings, "auth">,
  chain: KeyChain = createSystemKeyChain(),
): () => KeyChain | undefined {
  return () => (getSettings().auth.store === "keychain" ? chain : undefined);
}

function refuse(cause: unknown): never {
  const message =
    "The key chain of the operating system cannot be used, because the package @napi-rs/keyring is not installed or does not " +
    "run here. Install tau again with its optional packages, or keep keys in a file: tau config set auth.store file";
  throw new HarnessError("unavailable", message, { cause });
}

/** Rejects with a `HarnessError` that says why if the key chain does not keep what it is given. */
export async function checkKeyChain(chain: KeyChain, service: string): Promise<void> {
  const account = "tau check";
  let problem = "it did not return what was stored in it";
  try {
    await chain.set(service, account, account);
    const isKept = (await chain.get(service, account)) === account;
    await chain.delete(service, account);
    if (isKept) return;
  } catch (error) {
    if (error instanceof HarnessError) throw error;
    // Nothing secret was stored yet, so the reason can be shown.
    problem = error instanceof Error ? error.message : String(error);
  }
  const advice =
    process.platform === "linux"
      ? "Start and unlock a Secret Service, such as gnome-keyring."
      : "Unlock it and try again.";
  throw new HarnessError("unavailable", `The key chain of the operating system cannot be used: ${problem}. ${advice}`);
}
