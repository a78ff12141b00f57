/** Writes tar archives, also ones that no honest program would write. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

export interface ArchiveFile {
  name: string;
  content?: string;
  /** A symbolic link to this path. */
  link?: string;
  /** The kind of entry as tar writes it; with a link, another than a symbolic one. Default: a file or a symbolic link. */
  type?: string;
  /** The size that the header claims. Default: that of the content. */
  size?: number;
  mode?: number;
}

export const createArchive = (files: readonly ArchiveFile[]): Buffer => gzipSync(createTar(files));

export function createTar(files: readonly ArchiveFile[]): Buffer {
  const blocks = files.flatMap((file) => {
    const body = Buffer.from(file.content ?? "");
    const padding = Buffer.alloc((512 - (body.length % 512)) % 512);
    return [createHeader(file, body.length), body, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function createHeader({ name, link, type, mode = 0o644, size }: ArchiveFile, length: number): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits - 1, "0");
  header.write(name, 0, 100);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size ?? length, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(" ".repeat(8), 148);
  header.write(type ?? (link === undefined ? "0" : "2"), 156);
  header.write(link ?? "", 157, 100);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)}\0 `, 148);
  return header;
}

export const getIntegrity = (bytes: Buffer): string => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
