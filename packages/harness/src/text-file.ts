/** Reads whole files that people write, such as settings. */
import { getErrorMessage } from "@tau/ai/internal";
import { type FileSystem, lookAt } from "@tau/tools/platform";
import { orUndefined, readWhole } from "./durable-file.ts";

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
    return { kind: "unreadable", message: `The file cannot be read: ${getErrorMessage(error)}` };
  }
}

/** Undefined if there is no file, not even a link to one. A pipe or a device is not opened at all: reading it might never end. */
export async function readBytes(fs: FileSystem, path: string): Promise<Buffer | undefined> {
  const stats = await lookAt(fs, path);
  if (!stats && (await orUndefined(fs.lstat(path)))) throw new Error("it is a link that leads nowhere.");
  if (!stats) return undefined;
  if (!stats.isFile()) throw new Error("it is not a regular file.");
  if (stats.size > maxBytes) throw new Error(`it has ${stats.size} bytes, and the limit is ${maxBytes}.`);
  return await readWhole(fs, path);
}

/** Throws for bytes that are not UTF-8. A byte-order mark is kept. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Error("it is not UTF-8.", { cause: error });
  }
}
