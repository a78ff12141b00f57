/** Reads source files for servers and excerpts, and keeps the last ones. */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { relative } from "node:path";
import type { Clock } from "@tau/ai";
import { systemCode, isWithin } from "@tau/tools/platform";
import { LspError } from "./failure.ts";
import { TextLines } from "./positions.ts";

/** Servers get no larger files. */
const maxBytes = 10 * 1024 * 1024;

export interface SourceFile {
  readonly path: string;
  /** Without a byte order mark. */
  readonly lines: TextLines;
  readonly bytes: Buffer;
}

export const getSha256 = ({ bytes }: SourceFile): string => createHash("sha256").update(bytes).digest("hex");

export const isUtf8Text = ({ bytes }: SourceFile): boolean => isUtf8(bytes);

/** So many files are kept in memory. */
const maxKept = 50;
/** Two changes within this time may have the same time stamp. */
const stampMs = 100;

interface KeptFile {
  /** Undefined if the file had just changed when it was read. */
  stamp: string | undefined;
  file: SourceFile;
}

export class SourceFiles {
  readonly #cwd: string;
  readonly #clock: Clock;
  readonly #kept = new Map<string, KeptFile>();

  constructor(cwd: string, clock: Clock) {
    this.#cwd = cwd;
    this.#clock = clock;
  }

  /** The path as it is shown: relative where that is shorter. */
  show(path: string): string {
    return isWithin(this.#cwd, path) ? relative(this.#cwd, path) || "." : path;
  }

  /** Reads a file unless it is as it was when it was read before. Rejects with an `LspError`. */
  async read(path: string): Promise<SourceFile> {
    const shown = this.show(path);
    try {
      const { size, mtimeMs, ino, ctimeMs } = await stat(path);
      if (size > maxBytes) throw new LspError("invalid_input", `${shown} is larger than 10 MB.`);
      const stamp = `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
      const kept = this.#kept.get(path);
      if (kept?.stamp === stamp) return kept.file;
      const bytes = await readFile(path);
      const file = { path, bytes, lines: new TextLines(bytes.toString("utf8").replace(/^\ufeff/, "")) };
      const isSettled = this.#clock.now() - Math.max(mtimeMs, ctimeMs) > stampMs;
      this.#keep(path, { stamp: isSettled ? stamp : undefined, file });
      return file;
    } catch (error) {
      if (error instanceof LspError) throw error;
      const code = systemCode(error) ?? "unknown";
      throw new LspError("invalid_input", `${shown} could not be read (${code}).`, { cause: error });
    }
  }

  /**
   * Reads a file that a server named, for an excerpt. Undefined unless it is in the workspace, also behind links: a server must
   * not choose what else is shown.
   */
  async readNamed(path: string): Promise<SourceFile | undefined> {
    if (!isWithin(this.#cwd, path)) return undefined;
    try {
      const [real, root] = await Promise.all([realpath(path), realpath(this.#cwd)]);
      return isWithin(root, real) ? await this.read(path) : undefined;
    } catch {
      // The place is shown without an excerpt.
      return undefined;
    }
  }

  #keep(path: string, kept: KeptFile): void {
    this.#kept.delete(path);
    this.#kept.set(path, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
  }
}
