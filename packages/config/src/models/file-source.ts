/** Reads and watches `models.json`, and keeps its last valid content. */
import { type Clock } from "@tau/ai";
import { assertNever, SerialQueue, sleep } from "@tau/ai/internal";
import type { FileSystem } from "@tau/tools/platform";
import type { FileProblem } from "../files/file-problem.ts";
import { readTextFile, type FileText } from "../files/text-file.ts";
import { watchFiles, type WatchOptions } from "../files/watch-files.ts";
import { formatPath } from "../fields/problem.ts";
import { type ModelsFile, parseModels } from "./models-file.ts";

interface FileSourceOptions {
  path: string;
  fileSystem: FileSystem;
  clock: Clock;
}

/** How long a file may be damaged or missing while an editor saves it. */
const maxSaveMs = 150;

const noFile = (file: string): ModelsFile => ({
  providers: new Map(),
  problems: [],
  describe: (path, message) => ({ file, key: formatPath(path), message }),
});

type Content =
  | { kind: "unchanged" }
  | { kind: "valid"; text: string; file: ModelsFile }
  | { kind: "absent" }
  | { kind: "damaged"; problem: FileProblem };

export class FileSource {
  readonly #options: FileSourceOptions;
  readonly #closed = new AbortController();
  #valid: { text: string | undefined; file: ModelsFile };
  #problem: FileProblem | undefined;
  readonly #queue = new SerialQueue();

  constructor(options: FileSourceOptions) {
    this.#options = options;
    this.#valid = { text: undefined, file: noFile(options.path) };
  }

  get path(): string {
    return this.#options.path;
  }

  /** The content of the file. While the file is damaged: its last valid content, and why it is damaged. */
  get file(): ModelsFile {
    const { file } = this.#valid;
    return this.#problem ? { ...file, problems: [this.#problem] } : file;
  }

  /** Reads the file again. Resolves to whether anything changed. Does not reject for a damaged or unreadable file. */
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
    // A file that is damaged or missing is read twice: an editor may be saving it.
    for (let isSecond = this.#valid.text === undefined; !signal.aborted; isSecond = true) {
      const content = await this.#parse(await readTextFile(this.#options.fileSystem, this.path));
      if (content.kind === "unchanged" || content.kind === "valid" || isSecond) return this.#update(content);
      await sleep(this.#options.clock, maxSaveMs, signal);
    }
    return false;
  }

  #update(content: Content): boolean {
    const { text } = this.#valid;
    const before = this.#problem;
    this.#problem = undefined;
    switch (content.kind) {
      case "unchanged":
        return before !== undefined;
      case "valid":
        this.#valid = content;
        return true;
      case "absent":
        this.#valid = { text: undefined, file: noFile(this.path) };
        return text !== undefined || before !== undefined;
      case "damaged": {
        const message = `${content.problem.message}${text === undefined ? "" : " Its last valid content still counts."}`;
        this.#problem = { ...content.problem, message };
        return before?.message !== message || before.line !== content.problem.line;
      }
      default:
        return assertNever(content);
    }
  }

  async #parse(read: FileText): Promise<Content> {
    const { path } = this.#options;
    if (read.kind === "absent") return read;
    if (read.kind === "unreadable") return { kind: "damaged", problem: { file: path, message: read.message } };
    const { text } = read;
    if (text === this.#valid.text) return { kind: "unchanged" };
    const parsed = await parseModels(text, path);
    return parsed.kind === "damaged" ? parsed : { kind: "valid", text, file: parsed };
  }
}
