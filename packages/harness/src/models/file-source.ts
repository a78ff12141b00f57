/** `models.json` on disk: read, watched, and the last good state of it. */
import { assertNever, type Clock, sleep } from "@tau/ai";
import { SerialQueue } from "@tau/ai/internal";
import type { FileSystem } from "@tau/tools/platform";
import type { FileProblem } from "../file-problem.ts";
import { readTextFile, type FileText } from "../text-file.ts";
import { watchFiles, type WatchOptions } from "../watch-files.ts";
import { formatPath } from "../fields/problem.ts";
import { type ModelsFile, parseModels } from "./models-file.ts";

export interface FileSourceOptions {
  path: string;
  fileSystem: FileSystem;
  clock: Clock;
}

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
  | { kind: "absent" }
  | { kind: "broken"; problem: FileProblem };

export class FileSource {
  readonly #options: FileSourceOptions;
  readonly #closed = new AbortController();
  #good: { text: string | undefined; file: ModelsFile };
  #broken: FileProblem | undefined;
  readonly #queue = new SerialQueue();

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
    return this.#queue.add(() => this.#load());
  }

  /** Calls `onChange` when the file may have changed, until the source is closed. Does not keep the process alive. */
  watch({ onChange, onError }: Pick<WatchOptions, "onChange" | "onError">): void {
    const watch = watchFiles([this.path], { clock: this.#options.clock, onChange, onError });
    this.#closed.signal.addEventListener("abort", () => watch.close(), { once: true });
  }

  close(): void {
    this.#closed.abort();
  }

  async #load(): Promise<boolean> {
    const { signal } = this.#closed;
    // What looks broken or gone is looked at twice: it may be in the middle of being saved.
    for (let isSettled = this.#good.text === undefined; !signal.aborted; isSettled = true) {
      const found = await this.#parse(await readTextFile(this.#options.fileSystem, this.path));
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
      case "absent":
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

  async #parse(read: FileText): Promise<Found> {
    const { path } = this.#options;
    if (read.kind === "absent") return read;
    if (read.kind === "unreadable") return { kind: "broken", problem: { file: path, message: read.message } };
    const { text } = read;
    if (text === this.#good.text) return { kind: "same" };
    const parsed = await parseModels(text, path);
    return parsed.kind === "broken" ? parsed : { kind: "good", text, file: parsed };
  }
}
