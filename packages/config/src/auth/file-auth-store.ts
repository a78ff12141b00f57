/** Credentials in a file that processes share. It is read and replaced as a whole, and changed under a lease. */
import { dirname } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import { SerialQueue } from "@tau/ai/internal";
import { type FileSystem, lookAt, systemCode } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { formatReadFailure, formatWriteFailure, readWhole, writeWhole, withFileLease } from "@tau/tools/durable";
import type { Path } from "../fields/field.ts";
import { parseJsonDocument } from "../json/document.ts";
import { type AuthEntries, encodeAuthFile, parseAuthFile } from "./auth-file.ts";
import type { AuthStore, Change } from "./auth-store.ts";
import type { AuthNotice } from "./failure.ts";
import { makePrivate } from "./permissions.ts";

interface FileAuthStoreOptions {
  path: string;
  /** Whether the directory belongs to tau alone, so that its mode may be changed. */
  ownsDirectory: boolean;
  fileSystem: FileSystem;
  clock: Clock;
  ids: Ids;
  notify: (notice: AuthNotice) => void;
}

type Read = { kind: "good"; entries: AuthEntries } | { kind: "bad"; notice: AuthNotice };

export class FileAuthStore implements AuthStore {
  readonly name: string;
  readonly #options: FileAuthStoreOptions;
  readonly #queue = new SerialQueue();
  #lastGood: AuthEntries = new Map();

  constructor(options: FileAuthStoreOptions) {
    this.name = options.path;
    this.#options = options;
  }

  async read(): Promise<AuthEntries> {
    const read = await this.#read();
    if (read.kind === "bad") this.#options.notify(read.notice);
    return this.#lastGood;
  }

  change<T>(work: (entries: AuthEntries) => Promise<Change<T>>): Promise<T> {
    return this.#queue.add(() => this.#change(work));
  }

  async getLine(path: Path): Promise<number | undefined> {
    const parsed = await parseJsonDocument((await this.#text()) ?? "");
    return parsed.kind === "document" ? parsed.getPosition(path).line : undefined;
  }

  async #read(): Promise<Read> {
    const { path, fileSystem, ownsDirectory, notify } = this.#options;
    try {
      for (const each of ownsDirectory ? [dirname(path), path] : [path]) {
        const notice = await makePrivate(fileSystem, each);
        if (notice) notify(notice);
      }
      const parsed = await parseAuthFile((await this.#text()) ?? "");
      if (parsed.kind === "good") {
        this.#lastGood = parsed.entries;
        return parsed;
      }
      const message = `${path} is damaged: line ${parsed.line} is not valid JSON. The file was not changed. Correct that line, or move the file away and log in again.`;
      return { kind: "bad", notice: { kind: "damaged", message, path, line: parsed.line } };
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      return { kind: "bad", notice: { kind: "unreadable", message: formatReadFailure(path, code), path } };
    }
  }

  async #text(): Promise<string | undefined> {
    const { fileSystem, path } = this.#options;
    // Read before every request, and without keys in a file there is none.
    if (!(await lookAt(fileSystem, path))) return undefined;
    return (await readWhole(fileSystem, path))?.toString("utf8");
  }

  async #change<T>(work: (entries: AuthEntries) => Promise<Change<T>>): Promise<T> {
    const { fileSystem, ids } = this.#options;
    try {
      return await withFileLease(this.name, this.#options, async (path) => {
        const read = await this.#read();
        if (read.kind === "bad") throw new HarnessError("write_failed", read.notice.message);
        const { result, entries } = await work(read.entries);
        if (entries) {
          await writeWhole(fileSystem, { path, bytes: encodeAuthFile(entries), ids });
          this.#lastGood = entries;
        }
        return result;
      });
    } catch (error) {
      const code = systemCode(error);
      if (error instanceof HarnessError || code === undefined) throw error;
      throw new HarnessError(
        "write_failed",
        `${this.name} could not be written: ${formatWriteFailure(code)}. It was not changed.`,
      );
    }
  }
}
