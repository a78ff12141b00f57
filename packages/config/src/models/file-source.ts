/** Reads a file that describes models, and keeps its last valid content. */
import { type Clock } from "@tau/ai";
import { assertNever, SerialQueue, sleep } from "@tau/ai/internal";
import type { FileSystem } from "@tau/tools/platform";
import type { FileProblem } from "../files/file-problem.ts";
import { readTextFile, type FileText } from "../files/text-file.ts";

interface FileSourceOptions<File extends SourceFile> {
  path: string;
  fileSystem: FileSystem;
  clock: Clock;
  parse: (text: string, file: string) => Promise<({ kind: "read" } & File) | { kind: "damaged"; problem: FileProblem }>;
  /** Creates the content of a file that does not exist. */
  createEmpty: (file: string) => File;
}

interface SourceFile {
  problems: FileProblem[];
}

/** How long a file may be damaged or missing while an editor saves it. */
const maxSaveMs = 150;

type Content<File> =
  | { kind: "unchanged" }
  | { kind: "valid"; text: string; file: File }
  | { kind: "absent" }
  | { kind: "damaged"; problem: FileProblem };

export class FileSource<File extends SourceFile> {
  readonly #options: FileSourceOptions<File>;
  readonly #closed = new AbortController();
  #valid: { text: string | undefined; file: File };
  #damaged: File | undefined;
  #problem: FileProblem | undefined;
  readonly #queue = new SerialQueue();

  constructor(options: FileSourceOptions<File>) {
    this.#options = options;
    this.#valid = { text: undefined, file: options.createEmpty(options.path) };
  }

  get path(): string {
    return this.#options.path;
  }

  /** The content of the file. While the file is damaged: its last valid content, and why it is damaged. */
  get file(): File {
    return this.#damaged ?? this.#valid.file;
  }

  /** Reads the file again. Resolves to whether anything changed. Does not reject for a damaged or unreadable file. */
  load(): Promise<boolean> {
    return this.#queue.add(() => this.#load());
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

  #update(content: Content<File>): boolean {
    const { text } = this.#valid;
    const before = this.#problem;
    this.#problem = undefined;
    this.#damaged = undefined;
    switch (content.kind) {
      case "unchanged":
        return before !== undefined;
      case "valid":
        this.#valid = content;
        return true;
      case "absent":
        this.#valid = { text: undefined, file: this.#options.createEmpty(this.path) };
        return text !== undefined || before !== undefined;
      case "damaged": {
        const message = `${content.problem.message}${text === undefined ? "" : " Its last valid content still counts."}`;
        this.#problem = { ...content.problem, message };
        this.#damaged = { ...this.#valid.file, problems: [this.#problem] };
        return before?.message !== message || before.line !== content.problem.line;
      }
      default:
        return assertNever(content);
    }
  }

  async #parse(read: FileText): Promise<Content<File>> {
    const { path } = this.#options;
    if (read.kind === "absent") return read;
    if (read.kind === "unreadable") return { kind: "damaged", problem: { file: path, message: read.message } };
    const { text } = read;
    if (text === this.#valid.text) return { kind: "unchanged" };
    const parsed = await this.#options.parse(text, path);
    return parsed.kind === "damaged" ? parsed : { kind: "valid", text, file: parsed };
  }
}
