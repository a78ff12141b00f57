/** Where credentials are kept. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord, SerialQueue, tryParseJson } from "@tau/ai/internal";
import { getAgentDir, replaceFile } from "@tau/pi/internal";

interface LockResult<T> {
  result: T;
  /** The new text; undefined leaves it as it is. */
  next?: string;
}

export interface AuthStorageBackend {
  withLock<T>(change: (current: string | undefined) => LockResult<T>): T;
  /** Changes of this process wait for each other. Other processes are not locked out. */
  withLockAsync<T>(change: (current: string | undefined) => Promise<LockResult<T>>): Promise<T>;
}

/** A file that only its owner can read. */
export class FileAuthStorageBackend implements AuthStorageBackend {
  readonly #path: string;
  readonly #queue = new SerialQueue();

  constructor(path: string = join(getAgentDir(), "auth.json")) {
    this.#path = path;
  }

  withLock<T>(change: (current: string | undefined) => LockResult<T>): T {
    const { result, next } = change(this.#read());
    if (next !== undefined) this.#write(next);
    return result;
  }

  withLockAsync<T>(change: (current: string | undefined) => Promise<LockResult<T>>): Promise<T> {
    return this.#queue.add(async () => {
      const before = this.#read();
      const { result, next } = await change(before);
      if (next !== undefined) this.#write(mergeChanges(before, next, this.#read()));
      return result;
    });
  }

  #read(): string | undefined {
    return existsSync(this.#path) ? readFileSync(this.#path, "utf8") : undefined;
  }

  #write(text: string): void {
    replaceFile(this.#path, text, 0o600);
  }
}

export class InMemoryAuthStorageBackend implements AuthStorageBackend {
  readonly #queue = new SerialQueue();
  #text: string | undefined;

  withLock<T>(change: (current: string | undefined) => LockResult<T>): T {
    const { result, next } = change(this.#text);
    this.#text = next ?? this.#text;
    return result;
  }

  withLockAsync<T>(change: (current: string | undefined) => Promise<LockResult<T>>): Promise<T> {
    return this.#queue.add(async () => {
      const before = this.#text;
      const { result, next } = await change(before);
      if (next !== undefined) this.#text = mergeChanges(before, next, this.#text);
      return result;
    });
  }
}

/** A change may wait for a server. What others wrote meanwhile is kept, and what they removed stays away. */
function mergeChanges(before: string | undefined, next: string, now: string | undefined): string {
  if (now === before) return next;
  const [old, changed, current] = [before, next, now ?? "{}"].map((text) => tryParseJson(text ?? "{}"));
  if (!isRecord(old) || !isRecord(changed) || !isRecord(current)) return now ?? next;
  const isOurs = (name: string) => JSON.stringify(changed[name]) !== JSON.stringify(old[name]);
  const isRemoved = (name: string) => Object.hasOwn(old, name) && !Object.hasOwn(current, name);
  const ours = Object.entries(changed).filter(([name]) => isOurs(name) && !isRemoved(name));
  return `${JSON.stringify({ ...current, ...Object.fromEntries(ours) }, undefined, 2)}\n`;
}
