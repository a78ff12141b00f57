/** Where credentials are kept. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { SerialQueue } from "@tau/ai/internal";
import { getAgentDir } from "../config.ts";

interface LockResult<T> {
  result: T;
  /** The new text; undefined leaves it as it is. */
  next?: string;
}

export interface AuthStorageBackend {
  withLock<T>(change: (current: string | undefined) => LockResult<T>): T;
  /** Changes wait for each other. */
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
      const { result, next } = await change(this.#read());
      if (next !== undefined) this.#write(next);
      return result;
    });
  }

  #read(): string | undefined {
    return existsSync(this.#path) ? readFileSync(this.#path, "utf8") : undefined;
  }

  /** Whole or not at all: a file that is half written would lose all credentials. */
  #write(text: string): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const temporary = `${this.#path}.${randomBytes(4).toString("hex")}.tmp`;
    writeFileSync(temporary, text, { mode: 0o600 });
    chmodSync(temporary, 0o600);
    renameSync(temporary, this.#path);
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
      const { result, next } = await change(this.#text);
      this.#text = next ?? this.#text;
      return result;
    });
  }
}
