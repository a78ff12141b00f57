/** Reads source files for servers and excerpts, and keeps the last ones. */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { relative } from "node:path";
import type { Clock } from "@tau/ai";
import { closeAfter } from "@tau/ai/internal";
import type { Files } from "@tau/tools";
import { isWithin, ToolsError } from "@tau/tools/platform";
import { LspError } from "./failure.ts";
import { TextLines } from "./positions.ts";

/** Servers get no larger files. */
const maxBytes = 10 * 1024 * 1024;

/** The files of a call, with its permissions: what they open is judged by its real path. */
export type SourcePort = Pick<Files, "openRead" | "realPath" | "stat">;

export interface SourceFile {
  readonly path: string;
  /** Behind all links. */
  readonly realPath: string;
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
  /** The state of the file that was read. */
  stamp: string;
  /** When a file in this state was first seen. */
  seenAt: number;
  /** Whether it was read again since, so late that a change would show in the stamp. */
  isSettled: boolean;
  file: SourceFile;
}

interface SourceFilesParts {
  cwd: string;
  clock: Clock;
  port: SourcePort;
}

export class SourceFiles {
  readonly #parts: SourceFilesParts;
  readonly #kept: Map<string, KeptFile>;

  constructor(parts: SourceFilesParts, kept = new Map<string, KeptFile>()) {
    this.#parts = parts;
    this.#kept = kept;
  }

  /** Returns these files with the permissions of another call. */
  through(port: SourcePort): SourceFiles {
    return new SourceFiles({ ...this.#parts, port }, this.#kept);
  }

  /** The path as it is shown: relative where that is shorter. */
  show(path: string): string {
    const { cwd } = this.#parts;
    return isWithin(cwd, path) ? relative(cwd, path) || "." : path;
  }

  /** Reads a file unless it is as it was when it was read before. Rejects with an `LspError`. */
  async read(path: string): Promise<SourceFile> {
    const shown = this.show(path);
    const { port, clock } = this.#parts;
    try {
      const opened = await port.openRead(path);
      return await closeAfter(opened, async () => {
        const { stamp, realPath, size } = opened;
        const kept = this.#kept.get(path);
        const known = kept?.stamp === stamp ? kept : undefined;
        if (known?.isSettled) return known.file;
        if (size > maxBytes) throw new LspError("invalid_input", `${shown} is larger than 10 MB.`);
        const bytes = await readBytes(opened);
        const lines = new TextLines(bytes.toString("utf8").replace(/^\ufeff/, ""));
        const file = { path, realPath, bytes, lines };
        const seenAt = known?.seenAt ?? clock.now();
        this.#keep(path, { stamp, seenAt, isSettled: clock.now() - seenAt > stampMs, file });
        return file;
      });
    } catch (error) {
      throw error instanceof ToolsError ? toLspError(error, shown) : error;
    }
  }

  /** Whether a path is in the workspace, also behind links, for a file that may not exist yet. Rejects with an `LspError`. */
  async isInWorkspace(path: string): Promise<boolean> {
    const { cwd, port } = this.#parts;
    if (!isWithin(cwd, path)) return false;
    try {
      return isWithin(await realpath(cwd), await port.realPath(path));
    } catch (error) {
      throw error instanceof ToolsError ? toLspError(error, this.show(path)) : error;
    }
  }

  /** When a file was changed or got its name, in milliseconds on the clock of the system; undefined if it does not exist. */
  async getChangeTime(path: string): Promise<number | undefined> {
    try {
      return (await this.#parts.port.stat(path))?.ctimeMs;
    } catch (error) {
      throw error instanceof ToolsError ? toLspError(error, this.show(path)) : error;
    }
  }

  /**
   * Reads a file that a server named, for an excerpt. Undefined unless it is in the workspace, also behind links: a server must
   * not choose what else is shown.
   */
  async readNamed(path: string): Promise<SourceFile | undefined> {
    const { cwd } = this.#parts;
    if (!isWithin(cwd, path)) return undefined;
    try {
      // Where the file that was read is: a link may lead elsewhere by now.
      const file = await this.read(path);
      return isWithin(await realpath(cwd), file.realPath) ? file : undefined;
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

async function readBytes({ size, read }: Awaited<ReturnType<SourcePort["openRead"]>>): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const count = await read(bytes.subarray(length), length);
    // Somebody has made it shorter.
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}

const toLspError = (error: ToolsError, shown: string): LspError =>
  error.code === "not_found"
    ? new LspError("missing", `${shown} could not be read (ENOENT).`, { cause: error })
    : new LspError("invalid_input", error.message, { cause: error });
