/** Writes tar archives, also ones that no honest program would write. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

export interface ArchiveFile {
  name: string;
  content?: string;
  /** A symbolic link to this path. */
  link?: string;
}

export function createArchive(files: readonly ArchiveFile[]): Buffer {
  const blocks = files.flatMap(({ name, content = "", link }) => {
    const body = Buffer.from(content);
    const padding = Buffer.alloc((512 - (body.length % 512)) % 512);
    return [createHeader(name, body.length, link), body, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function createHeader(name: string, size: number, link: string | undefined): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, "0");
  header.write(name, 0, 100);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(" ".repeat(8), 148);
  header.write(link === undefined ? "0" : "2", 156);
  header.write(link ?? "", 157, 100);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)}\0 `, 148);
  return header;
}

export const getIntegrity = (bytes: Buffer): string => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
