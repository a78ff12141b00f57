/**
 * Files as an editor has them: a text with unsaved changes is read from the editor, and a text that exists is written through it. The
 * policy has judged each path before the editor is asked, and where the editor does not answer, the disk counts.
 */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { Files, ReadableFile } from "@tau/tools";
import { isWithin, ToolsError } from "@tau/tools/platform";
import { type Connection, RequestFailed } from "../json-rpc/connection.ts";
import type { FileSystemCapabilities, ReadTextFileRequest, WriteTextFileRequest } from "./schema.generated.ts";

/** Larger files are read from the disk only, since each is compared as a whole. */
const maxBytes = 10 * 1024 * 1024;

/** How long the editor may take to answer. */
const defaultLimitMs = 5_000;

interface EditorFilesParts {
  connection: Connection;
  client: FileSystemCapabilities;
  getSessionId: () => string;
  /** The directories that the editor shows, by their real paths. */
  roots: readonly string[];
  /**
   * Whether a process of the session runs beside its calls. It could put a link in the place of a directory after the path
   * was judged, and the editor would follow it: our own writing holds the directory open.
   */
  hasBackgroundWork: () => boolean;
  report: (message: string) => void;
  limitMs?: number;
}

/** Creates what comes between the tools of one session and the disk. */
export function createEditorFiles(parts: EditorFilesParts): (files: Files) => Files {
  const buffers = new Buffers(parts);
  /** The unsaved content of each file that the model was shown last, by real path. */
  const shown = new Map<string, string>();
  return (files) => ({
    ...files,
    openRead: async (path) => await openRead(await files.openRead(path), buffers, shown),
    async readWhole(path, limit, options) {
      const read = await files.readWhole(path, limit, options);
      const unsaved = await findUnsaved(read, buffers);
      // A tool that expects some content compares it, and the model does not see it.
      if (!options?.expected) noteShown(shown, read.realPath, unsaved);
      return unsaved && unsaved.length <= limit ? { ...read, bytes: unsaved } : read;
    },
    writeWhole: async (path, bytes, options = {}) =>
      (await writeThrough({ files, buffers, shown }, path, bytes, options)) ??
      (await files.writeWhole(path, bytes, options)),
  });
}

async function openRead(file: ReadableFile, buffers: Buffers, shown: Map<string, string>): Promise<ReadableFile> {
  const { realPath, size, stamp } = file;
  if (size > maxBytes || !buffers.mayRead(realPath)) return file;
  const bytes = Buffer.alloc(size);
  const count = await file.read(bytes, 0);
  const unsaved = await findUnsaved({ realPath, bytes: bytes.subarray(0, count) }, buffers);
  noteShown(shown, realPath, unsaved);
  if (!unsaved) return file;
  await file.close();
  return {
    realPath,
    size: unsaved.length,
    stamp,
    read: async (buffer, position) => unsaved.copy(buffer, 0, position),
    close: async () => undefined,
  };
}

/** The content of the editor, if it is another one than that of the disk. */
async function findUnsaved(
  { realPath, bytes }: { realPath: string; bytes: Buffer },
  buffers: Buffers,
): Promise<Buffer | undefined> {
  if (bytes.length > maxBytes || !isUtf8(bytes) || bytes.includes(0)) return undefined;
  const text = await buffers.read(realPath);
  const unsaved = text === undefined ? undefined : mergeBuffer(bytes.toString("utf8"), text);
  return unsaved === undefined ? undefined : Buffer.from(unsaved);
}

function noteShown(shown: Map<string, string>, realPath: string, unsaved: Buffer | undefined): void {
  if (unsaved) shown.set(realPath, hash(unsaved));
  else shown.delete(realPath);
}

interface Places {
  files: Files;
  buffers: Buffers;
  shown: Map<string, string>;
}

type Written = Awaited<ReturnType<Files["writeWhole"]>>;

/** Undefined if nothing was written: a file that is new, binary or not of the editor is written by ourselves. */
async function writeThrough(
  { files, buffers, shown }: Places,
  path: string,
  bytes: Uint8Array,
  { ifUnchanged }: { ifUnchanged?: string },
): Promise<Written | undefined> {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  const realPath = await files.realPath(path, "write");
  if (!buffers.mayWrite(realPath)) return undefined;
  const before = await readDisk(files, realPath);
  // Refused or created by the files themselves, which do both as one step.
  if (!before || (ifUnchanged !== undefined && ifUnchanged !== before.stamp)) return undefined;
  const buffer = await buffers.read(realPath);
  if (buffer === undefined) return undefined;
  const unsaved = mergeBuffer(before.bytes.toString("utf8"), buffer);
  if (ifUnchanged !== undefined && unsaved !== undefined && shown.get(realPath) !== hash(Buffer.from(unsaved))) {
    throw new ToolsError(
      "overtaken",
      `${path} has unsaved changes in the editor that you have not seen. Read it again, then change it.`,
    );
  }
  const text = Buffer.from(bytes).toString("utf8");
  if (!(await buffers.write(realPath, text))) return undefined;
  shown.delete(realPath);
  const after = await readDisk(files, realPath);
  // The editor has changed its buffer and not saved it: commands have to see the change too.
  if (after?.stamp === before.stamp) return undefined;
  const isSame = after?.bytes.equals(bytes) === true;
  // An editor that formats what it saves has written something else: the model has to read it before it replaces it.
  return { realPath, created: false, stamp: isSame ? after.stamp : undefined };
}

/** Undefined for a file that does not exist or may not be read. */
async function readDisk(files: Files, realPath: string) {
  try {
    return await files.readWhole(realPath, maxBytes);
  } catch (error) {
    if (error instanceof ToolsError) return undefined;
    throw error;
  }
}

const hash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("base64");

/**
 * The text of a buffer as it would be saved; undefined if that is what the disk has. Editors leave out byte order marks and carriage
 * returns, and write them again.
 */
export function mergeBuffer(disk: string, buffer: string): string | undefined {
  if (toPlain(disk) === toPlain(buffer)) return undefined;
  const plain = toPlain(buffer);
  const breaks = disk.match(/\r?\n/g) ?? [];
  const isWindows = breaks.length > 0 && breaks.every((mark) => mark === "\r\n");
  return `${disk.startsWith("\uFEFF") ? "\uFEFF" : ""}${isWindows ? plain.replaceAll("\n", "\r\n") : plain}`;
}

const toPlain = (text: string): string => text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");

/** The texts of the editor. One that does not answer in time is not asked again. */
class Buffers {
  readonly #parts: EditorFilesParts;
  #isSilent = false;

  constructor(parts: EditorFilesParts) {
    this.#parts = parts;
  }

  mayRead(path: string): boolean {
    const { client, roots } = this.#parts;
    return client.readTextFile === true && !this.#isSilent && roots.some((root) => isWithin(root, path));
  }

  mayWrite(path: string): boolean {
    const { client, hasBackgroundWork } = this.#parts;
    return client.writeTextFile === true && this.mayRead(path) && !hasBackgroundWork();
  }

  /** Undefined if the editor does not have it. */
  async read(path: string): Promise<string | undefined> {
    if (!this.mayRead(path)) return undefined;
    const params: ReadTextFileRequest = { sessionId: this.#parts.getSessionId(), path };
    const result = await this.#request("fs/read_text_file", params);
    const content = (result as { content?: unknown } | undefined)?.content;
    return typeof content === "string" ? content : undefined;
  }

  /** False if the editor refuses. */
  async write(path: string, content: string): Promise<boolean> {
    const params: WriteTextFileRequest = { sessionId: this.#parts.getSessionId(), path, content };
    return (await this.#request("fs/write_text_file", params)) !== undefined;
  }

  /** Undefined where there is no answer. */
  async #request(method: string, params: object): Promise<unknown> {
    const { connection, limitMs = defaultLimitMs, report } = this.#parts;
    try {
      return (await connection.request(method, params, AbortSignal.timeout(limitMs))) ?? {};
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      if (error.kind === "cancelled") {
        this.#isSilent = true;
        report(`The editor did not answer ${method}: files are read from and written to the disk from now on.`);
      }
      // It refuses what it does not have open, which is nothing to report.
      return undefined;
    }
  }
}
