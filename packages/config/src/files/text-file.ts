/** Reads whole files that people write, such as settings. */
import { dirname } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { type FileSystem, lookAt, systemCode } from "@tau/tools/platform";
import { orUndefined, readWhole } from "@tau/tools/durable";

export type FileText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "absent" }
  /** The message is a sentence. */
  | { readonly kind: "unreadable"; readonly message: string };

/** Far more than a person writes into one file. */
const maxBytes = 4 * 1024 * 1024;

/** Never rejects: what goes wrong is part of the result. */
export async function readTextFile(fs: FileSystem, path: string): Promise<FileText> {
  try {
    const bytes = await readBytes(fs, path);
    return bytes ? { kind: "text", text: decodeText(bytes) } : { kind: "absent" };
  } catch (error) {
    const code = systemCode(error);
    const isDenied = code === "EACCES" || code === "EPERM";
    const reason = isDenied ? "you do not have permission" : "the system refuses it";
    const why = code === undefined ? getErrorMessage(error) : `${reason} (${code}).`;
    return { kind: "unreadable", message: `The file cannot be read: ${why}` };
  }
}

/** Undefined if there is no file, not even a link to one. A pipe or a device is not opened at all: reading it might never end. */
export async function readBytes(fs: FileSystem, path: string): Promise<Buffer | undefined> {
  const stats = await lookAt(fs, path);
  if (!stats && (await orUndefined(fs.lstat(path)))) throw new Error("it is a link that leads nowhere.");
  if (!stats) return undefined;
  if (!stats.isFile()) throw new Error("it is not a regular file.");
  if (await isForeign(fs, path, stats.uid)) {
    throw new Error(`it belongs to another user (id ${stats.uid}), in a directory that everybody can write to.`);
  }
  if (stats.size > maxBytes) throw new Error(`it has ${stats.size} bytes, and the limit is ${maxBytes}.`);
  return await readWhole(fs, path);
}

/** Whether any user of the computer could have put the file there. */
async function isForeign(fs: FileSystem, path: string, uid: number): Promise<boolean> {
  return uid !== 0 && uid !== (process.getuid?.() ?? uid) && (await isShared(fs, dirname(path)));
}

/** Whether everybody can write to a directory. */
export const isShared = async (fs: FileSystem, directory: string): Promise<boolean> =>
  (((await orUndefined(lookAt(fs, directory)))?.mode ?? 0) & 0o002) !== 0;

/** Throws for bytes that are not UTF-8. A byte-order mark is kept. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Error("it is not UTF-8.", { cause: error });
  }
}
