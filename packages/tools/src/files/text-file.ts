/** Reads files for editing: every byte that is not changed stays as it was. */
import { isUtf8 } from "node:buffer";
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import { formatBytes } from "../truncate.ts";
import { refuseBinary } from "./sniff.ts";

/** The largest file that is edited, since it is kept in memory whole. */
export const maxEditableBytes = 10 * 1024 * 1024;

/** Reads a text for editing. `name` is what messages call it. A byte order mark is part of the text. */
export async function readTextFile(
  files: Files,
  path: string,
  name: string,
): Promise<{ source: string; stamp: string }> {
  const { bytes, stamp } = await readBytes(files, path, name);
  refuseBinary(bytes, name);
  return { source: decodeText(bytes), stamp };
}

async function readBytes(files: Files, path: string, name: string): Promise<{ bytes: Buffer; stamp: string }> {
  try {
    return await files.readWhole(path, maxEditableBytes);
  } catch (error) {
    if (!(error instanceof ToolsError) || error.code !== "too_large") throw error;
    const limit = formatBytes(maxEditableBytes);
    throw new ToolsError("too_large", `${name} is too large to edit: at most ${limit}. Use sed or a script in bash.`, {
      cause: error,
    });
  }
}

/** A byte that is not UTF-8 becomes a lone surrogate, U+DC80 to U+DCFF, which no well-formed text holds. */
const escapeBase = 0xdc00;

/** Text of any bytes; `encodeText` gives exactly these bytes back. Pure. */
export function decodeText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const parts: string[] = [];
  let from = 0;
  for (let index = 0; index < bytes.length;) {
    const length = sequenceLength(bytes, index);
    if (length === 0) {
      parts.push(bytes.toString("utf8", from, index), String.fromCharCode(escapeBase + bytes[index]!));
      from = index + 1;
    }
    index += length || 1;
  }
  return [...parts, bytes.toString("utf8", from)].join("");
}

/** How many bytes the code point at `index` has; 0 when there is none. */
function sequenceLength(bytes: Buffer, index: number): number {
  const first = bytes[index]!;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return isUtf8(bytes.subarray(index, index + length)) ? length : 0;
}

/** The bytes of a text. Pure. */
export function encodeText(text: string): Buffer {
  if (!hasRawBytes(text)) return Buffer.from(text);
  // With the flag `u`, halves of a proper pair do not match.
  const parts = text.split(/([\udc80-\udcff])/u);
  return Buffer.concat(
    parts.map((part, index) => (index % 2 === 1 ? Buffer.from([part.charCodeAt(0) - escapeBase]) : Buffer.from(part))),
  );
}

/** Whether it holds bytes that are not UTF-8. */
export const hasRawBytes = (text: string): boolean => /[\udc80-\udcff]/u.test(text);
