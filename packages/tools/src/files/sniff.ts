/** Detects what a file holds, by its first bytes. Pure. */
import { ToolsError } from "../errors.ts";
import { formatBytes } from "../truncate.ts";

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/bmp";

const signatures: readonly [ImageType, (bytes: Uint8Array) => boolean][] = [
  ["image/png", (bytes) => startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ["image/jpeg", (bytes) => startsWith(bytes, [0xff, 0xd8, 0xff])],
  [
    "image/gif",
    (bytes) =>
      startsWith(bytes, [0x47, 0x49, 0x46, 0x38]) && (bytes[4] === 0x37 || bytes[4] === 0x39) && bytes[5] === 0x61,
  ],
  [
    "image/webp",
    (bytes) => startsWith(bytes, [0x52, 0x49, 0x46, 0x46]) && startsWith(bytes.subarray(8), [0x57, 0x45, 0x42, 0x50]),
  ],
  // Texts may begin with "BM" too, so the reserved bytes must be zero.
  [
    "image/bmp",
    (bytes) => startsWith(bytes, [0x42, 0x4d]) && bytes.length > 10 && startsWith(bytes.subarray(6), [0, 0, 0, 0]),
  ],
];

const startsWith = (bytes: Uint8Array, signature: readonly number[]) =>
  bytes.length >= signature.length && signature.every((byte, index) => bytes[index] === byte);

export const detectImageType = (head: Uint8Array): ImageType | undefined =>
  signatures.find(([, matches]) => matches(head))?.[0];

/** How many bytes tell a text from something else. */
export const headBytes = 8_192;

/** UTF-16 has a zero in every other byte of ordinary text; a byte order mark gives it away. */
const isUtf16 = (head: Uint8Array): boolean => startsWith(head, [0xff, 0xfe]) || startsWith(head, [0xfe, 0xff]);

/** Throws for bytes that are not text; `name` is the file's name in messages. */
export function refuseBinary(bytes: Uint8Array, name: string, size = bytes.length): void {
  if (isUtf16(bytes)) {
    throw new ToolsError("binary", `${name} is UTF-16 text. Convert it first: iconv -f UTF-16 -t UTF-8.`);
  }
  if (bytes.includes(0)) throw binary(name, size);
}

/** Refuses zeros in what has been read of a file already. */
export function refuseZeros(text: string, name: string, size: number): void {
  if (text.includes("\0")) throw binary(name, size);
}

/** A zero byte never occurs in text that tools can show or edit. */
const binary = (name: string, size: number) =>
  new ToolsError("binary", `${name} is a binary file (${formatBytes(size)}). Use a program that knows its format.`);
