/** `models.json` on disk: read, watched, and the last good state of it. */
import { type Stats, unwatchFile, watchFile } from "node:fs";
import { assertNever, type Clock, getErrorMessage, sleep } from "@tau/ai";
import { type FileSystem, lookAt, systemCode } from "@tau/tools/platform";
import { readWhole } from "../durable-file.ts";
import type { FileProblem } from "../file-problem.ts";
import { formatPath } from "../fields/problem.ts";
import { type ModelsFile, parseModels } from "./models-file.ts";

export interface FileSourceOptions {
  path: string;
  fileSystem: FileSystem;
  clock: Clock;
}

/** Larger is no file that a person wrote. */
const maxBytes = 4 * 1024 * 1024;

/** How often the file is looked at. Looking at its state, not at events, misses no way of saving it. */
const lookEveryMs = 250;

/** An editor that empties a file and writes it again, or puts another in its place, is done by then. */
const settleMs = 150;

const noFile = (file: string): ModelsFile => ({
  providers: new Map(),
  problems: [],
  describe: (path, message) => ({ file, key: formatPath(path), message }),
});

type Found =
  | { kind: "same" }
  | { kind: "good"; text: string; file: ModelsFile }
  | { kind: "missing" }
  | { kind: "broken"; problem: FileProblem };

type Read = { kind: "text"; text: string } | { kind: "missing" } | { kind: "unreadable"; message: string };

export class FileSource {
  readonly #options: FileSourceOptions;
  readonly #closed = new AbortController();
  #good: { text: string | undefined; file: ModelsFile };
  #broken: FileProblem | undefined;
  #loading: Promise<unknown> = Promise.resolve();

  constructor(options: FileSourceOptions) {
    this.#options = options;
    this.#good = { text: undefined, file: noFile(options.path) };
  }

  get path(): string {
    return this.#options.path;
  }

  /** What the file says, and its problems. While it is broken: what it said before, and why it is broken. */
  get file(): ModelsFile {
    const { file } = this.#good;
    return this.#broken ? { ...file, problems: [this.#broken] } : file;
  }

  /** Reads the file again. Says whether anything changed. Never rejects for what is in the file or on the disk. */
  load(): Promise<boolean> {
    const loaded = this.#loading.then(() => this.#load());
    this.#loading = Promise.allSettled([loaded]);
    return loaded;
  }

  /** Calls `onChange` when the file may have changed, until the source is closed. Does not keep the process alive. */
  watch(onChange: () => void): void {
    const { path } = this.#options;
    const listener = (_now: Stats, _before: Stats) => onChange();
    // All registries of a process share one watcher of the file, however many there are.
    watchFile(path, { interval: lookEveryMs, persistent: false }, listener).setMaxListeners(0);
    this.#closed.signal.addEventListener("abort", () => unwatchFile(path, listener), { once: true });
  }

  close(): void {
    this.#closed.abort();
  }

  async #load(): Promise<boolean> {
    const { signal } = this.#closed;
    // What looks broken or gone is looked at twice: it may be in the middle of being saved.
    for (let isSettled = this.#good.text === undefined; !signal.aborted; isSettled = true) {
      const found = await this.#parse(await this.#read());
      if (found.kind === "same" || found.kind === "good" || isSettled) return this.#take(found);
      await sleep(this.#options.clock, settleMs, signal);
    }
    return false;
  }

  #take(found: Found): boolean {
    const { text } = this.#good;
    const before = this.#broken;
    this.#broken = undefined;
    switch (found.kind) {
      case "same":
        return before !== undefined;
      case "good":
        this.#good = found;
        return true;
      case "missing":
        this.#good = { text: undefined, file: noFile(this.path) };
        return text !== undefined || before !== undefined;
      case "broken": {
        const message = `${found.problem.message}${text === undefined ? "" : " Its last valid content still counts."}`;
        this.#broken = { ...found.problem, message };
        return before?.message !== message || before.line !== found.problem.line;
      }
      default:
        return assertNever(found);
    }
  }

  async #parse(read: Read): Promise<Found> {
    const { path } = this.#options;
    if (read.kind === "missing") return read;
    if (read.kind === "unreadable") return { kind: "broken", problem: { file: path, message: read.message } };
    const { text } = read;
    if (text === this.#good.text) return { kind: "same" };
    const parsed = await parseModels(text, path);
    return parsed.kind === "broken" ? parsed : { kind: "good", text, file: parsed };
  }

  async #read(): Promise<Read> {
    const { fileSystem: fs, path } = this.#options;
    try {
      const stats = await lookAt(fs, path);
      if (!stats) return { kind: "missing" };
      if (!stats.isFile()) return { kind: "unreadable", message: "This is not a file." };
      if (stats.size > maxBytes) return { kind: "unreadable", message: `This is larger than ${maxBytes} bytes.` };
      const bytes = await readWhole(fs, path);
      return bytes ? { kind: "text", text: bytes.toString("utf8") } : { kind: "missing" };
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
      return { kind: "unreadable", message: `This cannot be read: ${getErrorMessage(error)}.` };
    }
  }
}
