/** Resources that the sessions of this process share by key: opened for the first user, closed after the last. */
import type { Clock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { ExtensionError } from "../errors.ts";
import type { SharedResource } from "../api/api.ts";

/** How long a resource may take to close. Nobody waits for it any longer. */
export const maxCloseMs = 5_000;

/** Opens a resource. Called by one user at a time. */
type OpenShared<T extends SharedResource> = () => T | Promise<T>;

interface Entry {
  readonly users: Set<object>;
  /** Settles once the resource is open, or could not be opened. */
  readonly opened: Promise<SharedResource>;
}

export class SharedResources {
  readonly #entries = new Map<string, Entry>();
  /** Resources that are being closed. The next one of the key is opened afterwards: it may need the same port or file. */
  readonly #closing = new Map<string, Promise<void>>();

  /**
   * Resolves with the resource of the key, which `user` has until it is released. A user that asks again has it once.
   * Rejects if it cannot be opened; the next user then tries again.
   */
  async acquire<T extends SharedResource>(key: string, user: object, open: OpenShared<T>): Promise<T> {
    const entry = this.#entries.get(key) ?? this.#add(key, open);
    entry.users.add(user);
    return (await entry.opened) as T;
  }

  /** Gives back all that `user` has. Resolves when what nobody else uses is closed; rejects if closing it failed. */
  async release(user: object, clock: Clock): Promise<void> {
    const released = [...this.#entries].filter(([, { users }]) => users.delete(user) && users.size === 0);
    const closed = await Promise.allSettled(released.map(([key, entry]) => this.#close(key, entry, clock)));
    const failed = closed.find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }

  #add(key: string, open: OpenShared<SharedResource>): Entry {
    const entry: Entry = { users: new Set(), opened: this.#open(key, open) };
    this.#entries.set(key, entry);
    entry.opened.catch(() => this.#forget(key, entry));
    return entry;
  }

  async #open(key: string, open: OpenShared<SharedResource>): Promise<SharedResource> {
    await this.#closing.get(key);
    const resource = await open();
    if (typeof resource?.close === "function") return resource;
    throw new ExtensionError("invalid_input", `The shared resource ${JSON.stringify(key)} has no function \`close\`.`);
  }

  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  async #close(key: string, entry: Entry, clock: Clock): Promise<void> {
    this.#forget(key, entry);
    const closed = this.#limit(key, closeOpened(entry), clock);
    const settled = closed.catch(() => {});
    this.#closing.set(key, settled);
    try {
      await closed;
    } finally {
      if (this.#closing.get(key) === settled) this.#closing.delete(key);
    }
  }

  async #limit(key: string, work: Promise<void>, clock: Clock): Promise<void> {
    const outcome = await untilTimeout(work, maxCloseMs, clock);
    if (outcome.kind === "done") return;
    const seconds = maxCloseMs / 1_000;
    throw new ExtensionError("timeout", `The shared resource ${key} was not closed after ${seconds} seconds.`);
  }
}

async function closeOpened({ opened }: Entry): Promise<void> {
  // The caller of `shared` has already got the error.
  const resource = await opened.catch(() => undefined);
  await resource?.close();
}

export const processResources = new SharedResources();
