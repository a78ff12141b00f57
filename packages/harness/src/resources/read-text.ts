/** Texts that people wrote: read up to a size, and only from regular files. */
import { constants, type Stats } from "node:fs";
import { type FileSystem, systemCode, lookAt } from "@tau/tools/platform";
import { problemAt, type ResourceProblem } from "./problem.ts";

export type TextOutcome =
  | {
      kind: "text";
      /** Without a byte order mark. */
      text: string;
      /** Tells one file from another, also where two names lead to it. */
      identity: string;
      /** That only the beginning was read. */
      problem: ResourceProblem | undefined;
    }
  | { kind: "missing" }
  | { kind: "unusable"; problem: ResourceProblem };

/** Reads at most `maxBytes`, up to the end of a line. A link is followed, wherever it leads, to a regular file only. */
export async function readText(fs: FileSystem, path: string, maxBytes: number): Promise<TextOutcome> {
  try {
    // A look before opening: opening alone already wakes a device.
    const before = await lookAt(fs, path);
    if (!before) return { kind: "missing" };
    if (!before.isFile())
      return unusable(path, `this is ${getKind(before)}, not a file. Put a text file in its place.`);
    // It may have become a pipe since, and opening one that nobody writes to would wait for ever.
    const handle = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile())
        return unusable(path, `this is ${getKind(stats)}, not a file. Put a text file in its place.`);
      const bytes = await readUpTo(handle, maxBytes + 1);
      if (isBinary(bytes)) return unusable(path, "this is not UTF-8 text. Save it as UTF-8, or remove it.");
      return { kind: "text", identity: `${stats.dev}:${stats.ino}`, ...decode(path, bytes, maxBytes) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
    return unusable(path, `it cannot be read (${code}). Check its permissions, or remove it.`);
  }
}

async function readUpTo(
  handle: { read(buffer: Uint8Array, position: number): Promise<number> },
  most: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let size = 0; size < most;) {
    const chunk = Buffer.allocUnsafe(Math.min(64 * 1024, most - size));
    const count = await handle.read(chunk, size);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    size += count;
  }
  return Buffer.concat(chunks);
}

/** A zero byte never occurs in text, and UTF-16 is full of them. */
const isBinary = (bytes: Uint8Array) => bytes.includes(0);

function decode(path: string, bytes: Buffer, maxBytes: number) {
  const isCut = bytes.length > maxBytes;
  // As a stream, half a character at the end is left out and not replaced.
  const text = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: isCut });
  if (!isCut) return { text, problem: undefined };
  const lastLine = text.lastIndexOf("\n");
  const problem = problemAt(
    "too_large",
    { path },
    `it has more than ${maxBytes} bytes; only its beginning is used. Make it shorter, or split it.`,
  );
  return { text: lastLine > 0 ? text.slice(0, lastLine + 1) : text, problem };
}

const unusable = (path: string, text: string): TextOutcome => ({
  kind: "unusable",
  problem: problemAt("unreadable", { path }, text),
});

function getKind(stats: Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

export interface Listing {
  /** Sorted by name. */
  entries: { name: string; isDirectory: boolean; isSymbolicLink: boolean }[];
  /** The same for all names that lead to it. */
  realPath: string;
  problem?: ResourceProblem;
}

/** What is in a directory; nothing where there is none. */
export async function listDirectory(fs: FileSystem, path: string): Promise<Listing> {
  try {
    const realPath = await fs.realpath(path);
    const entries = await fs.readdir(path);
    return { entries: entries.sort((one, other) => (one.name < other.name ? -1 : 1)), realPath };
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const none = { entries: [], realPath: path };
    if (code === "ENOENT" || code === "ENOTDIR") return none;
    const text = `this directory cannot be read (${code}). Check its permissions.`;
    return { ...none, problem: problemAt("unreadable", { path }, text) };
  }
}

/** What a name leads to; undefined where it leads nowhere. */
export async function kindOfPath(fs: FileSystem, path: string): Promise<"file" | "directory" | "other" | undefined> {
  try {
    const stats = await lookAt(fs, path);
    if (!stats) return undefined;
    return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other";
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
