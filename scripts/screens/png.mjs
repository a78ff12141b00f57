/** Writes PNG files of at most 256 colors. */
import { crc32, deflateSync } from "node:zlib";

/** `pixels` are numbers such as 0xff8800, row by row. */
export function encodePng(pixels, width) {
  const colors = [...new Set(pixels)];
  if (colors.length > 256) throw new Error(`The picture has ${colors.length} colors, and may have 256.`);
  const indexes = new Map(colors.map((color, index) => [color, index]));
  const height = pixels.length / width;
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = indexes.get(pixels[y * width + x]);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits, by a palette.
  header.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.from(colors.flatMap((color) => [color >> 16, (color >> 8) & 0xff, color & 0xff]));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    toChunk("IHDR", header),
    toChunk("PLTE", palette),
    toChunk("IDAT", deflateSync(rows, { level: 9 })),
    toChunk("IEND", Buffer.alloc(0)),
  ]);
}

function toChunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
