/** Writes zip archives, also ones that no honest program would write. */
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipFile {
  name: string;
  content?: string | Buffer;
  /** Default: deflated. */
  method?: number;
  /** Replaces what the content is packed as. */
  packed?: Buffer;
  isEncrypted?: boolean;
  /** Claims of the directory. Default: the truth. */
  size?: number;
  packedSize?: number;
  offset?: number;
  checksum?: number;
  /** The name in the header before the content. Default: the same. */
  localName?: string;
  /** Whether sizes and offset are in the field for large files. */
  isLarge?: boolean;
  /** A mode of Unix. */
  mode?: number;
}

export interface ZipOptions {
  comment?: string;
  prefix?: Buffer;
  /** Claims of the end. Default: the truth. */
  count?: number;
  directorySize?: number;
  directoryOffset?: number;
  /** Whether the end is that of large archives. */
  isLarge?: boolean;
}

const integer = (value: number, bytes: 2 | 4 | 8): Buffer => {
  const buffer = Buffer.alloc(bytes);
  if (bytes === 2) buffer.writeUInt16LE(value);
  else if (bytes === 4) buffer.writeUInt32LE(value);
  else buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
};

const join = (...parts: Buffer[]): Buffer => Buffer.concat(parts);

export function createZip(files: readonly ZipFile[], options: ZipOptions = {}): Buffer {
  const { comment = "", prefix = Buffer.alloc(0), isLarge = false } = options;
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let position = 0;
  for (const file of files) {
    const content = Buffer.from(file.content ?? "");
    const method = file.method ?? 8;
    const packed = file.packed ?? (method === 8 ? deflateRawSync(content) : content);
    const flags = file.isEncrypted ? 1 : 0;
    const { size = content.length, packedSize = packed.length, offset = position } = file;
    const checksum = file.checksum ?? crc32(content);
    const shared = (small: boolean) => [
      integer(flags, 2),
      integer(method, 2),
      integer(0x5400, 2),
      integer(0x5b73, 2),
      integer(checksum, 4),
      integer(small ? packedSize : 0xffff_ffff, 4),
      integer(small ? size : 0xffff_ffff, 4),
    ];
    const localName = Buffer.from(file.localName ?? file.name);
    const local = [
      integer(0x04034b50, 4),
      integer(20, 2),
      ...shared(true),
      integer(localName.length, 2),
      integer(0, 2),
    ];
    const body = Buffer.concat([...local, localName, packed]);
    bodies.push(body);
    const name = Buffer.from(file.name);
    const large = [integer(1, 2), integer(24, 2), integer(size, 8), integer(packedSize, 8), integer(offset, 8)];
    const extra = file.isLarge ? Buffer.concat(large) : Buffer.alloc(0);
    entries.push(
      join(integer(0x02014b50, 4), integer(file.mode === undefined ? 20 : 0x0314, 2), integer(20, 2)),
      ...shared(!file.isLarge),
      join(integer(name.length, 2), integer(extra.length, 2), integer(0, 2), integer(0, 2), integer(0, 2)),
      join(integer(((file.mode ?? 0) << 16) >>> 0, 4), integer(file.isLarge ? 0xffff_ffff : offset, 4), name, extra),
    );
    position += body.length;
  }
  const directory = Buffer.concat(entries);
  const { count = files.length, directorySize = directory.length, directoryOffset = position } = options;
  const end64 = [
    join(integer(0x06064b50, 4), integer(44, 8), integer(45, 2), integer(45, 2), integer(0, 4), integer(0, 4)),
    join(integer(count, 8), integer(count, 8), integer(directorySize, 8), integer(directoryOffset, 8)),
    join(integer(0x07064b50, 4), integer(0, 4), integer(position + directory.length, 8), integer(1, 4)),
  ];
  const end = [
    join(integer(0x06054b50, 4), integer(0, 2), integer(0, 2)),
    ...(isLarge
      ? [integer(0xffff, 2), integer(0xffff, 2), integer(0xffff_ffff, 4), integer(0xffff_ffff, 4)]
      : [integer(count, 2), integer(count, 2), integer(directorySize, 4), integer(directoryOffset, 4)]),
    join(integer(comment.length, 2), Buffer.from(comment)),
  ];
  return Buffer.concat([prefix, ...bodies, directory, ...(isLarge ? end64 : []), ...end]);
}
