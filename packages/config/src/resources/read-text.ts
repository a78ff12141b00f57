/** Reads texts of users: from regular files only, up to a limit. */
import { constants } from "node:fs";
import { closeAfter } from "@tau/ai/internal";
import { type FileSystem, getKind, systemCode, lookAt, ToolsError } from "@tau/tools/platform";
import { orUndefined, readUpTo } from "@tau/tools/durable";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";

type TextOutcome =
  | {
      kind: "text";
      /** Without a byte-order mark. */
      text: string;
      /** Equal for all names of a file, different for other files. */
      identity: string;
      /** Set if only the beginning was read. */
      problem: ResourceProblem | undefined;
    }
  | { kind: "missing" }
  | { kind: "unusable"; problem: ResourceProblem };

/** Reads at most `maxBytes`, up to the end of a line. Links to regular files are followed. */
export async function readText(fs: FileSystem, path: string, maxBytes: number): Promise<TextOutcome> {
  try {
    // Checked before it is opened: to open a device may have effects.
    const before = await lookAt(fs, path);
    if (!before) return { kind: "missing" };
    if (!before.isFile()) return unusable(path, `This is ${getKind(before)}, not a file. Replace it by a text file.`);
    // It may be a pipe by now; without O_NONBLOCK, opening it would wait for a writer.
    const handle = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await closeAfter(handle, async (): Promise<TextOutcome> => {
      const stats = await handle.stat();
      if (!stats.isFile()) return unusable(path, `This is ${getKind(stats)}, not a file. Replace it by a text file.`);
      const bytes = await readUpTo(handle, maxBytes + 1);
      if (isBinary(bytes)) return unusable(path, "This is not UTF-8 text. Save it as UTF-8, or remove it.");
      return { kind: "text", identity: `${stats.dev}:${stats.ino}`, ...decode(path, bytes, maxBytes) };
    });
  } catch (error) {
    if (error instanceof ToolsError) return unusable(path, error.message);
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
    return unusable(path, `The file cannot be read (${code}). Check its permissions, or remove it.`);
  }
}

/** UTF-8 text has no zero bytes; UTF-16 text has many. */
const isBinary = (bytes: Uint8Array) => bytes.includes(0);

function decode(path: string, bytes: Buffer, maxBytes: number) {
  const isCut = bytes.length > maxBytes;
  // As a stream, an incomplete character at the end is left out instead of replaced.
  const text = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: isCut });
  if (!isCut) return { text, problem: undefined };
  const lastLine = text.lastIndexOf("\n");
  const problem = createProblem(
    "too_large",
    { path },
    `The file has more than ${maxBytes} bytes; only its beginning is used. Shorten or split it.`,
  );
  return { text: lastLine > 0 ? text.slice(0, lastLine + 1) : text, problem };
}

const unusable = (path: string, text: string): TextOutcome => ({
  kind: "unusable",
  problem: createProblem("unreadable", { path }, text),
});

interface Listing {
  /** Sorted by name. */
  entries: { name: string; isDirectory: boolean; isSymbolicLink: boolean }[];
  /** Equal for all names of the directory. */
  realPath: string;
  problem?: ResourceProblem;
}

/** The entries of a directory; none if it does not exist. */
export async function readDirectory(fs: FileSystem, path: string): Promise<Listing> {
  try {
    const realPath = await fs.realpath(path);
    const entries = await fs.readdir(path);
    return { entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)), realPath };
  } catch (error) {
    const none = { entries: [], realPath: path };
    if (error instanceof ToolsError) return { ...none, problem: createProblem("unreadable", { path }, error.message) };
    const code = systemCode(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") return none;
    const text = `The directory cannot be read (${code}). Check its permissions.`;
    return { ...none, problem: createProblem("unreadable", { path }, text) };
  }
}

/** Follows links. Undefined if the path does not exist or cannot be read. */
export async function getPathKind(fs: FileSystem, path: string): Promise<"file" | "directory" | "other" | undefined> {
  const stats = await orUndefined(lookAt(fs, path));
  if (!stats) return undefined;
  return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other";
}
