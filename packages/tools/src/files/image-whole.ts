/**
 * Whether an image is complete, by its structure: a complete one is sent as it is, without being decoded. Providers
 * refuse a conversation that holds a broken one. Pure.
 */
import { jpegSegments, readStructure } from "./image-size.ts";
import type { ImageType } from "./sniff.ts";

/** False also for an image that is only unusual: the decoder decides about that. */
export const isWholeImage = (bytes: Uint8Array, type: ImageType): boolean => readStructure(bytes, walks[type]) === true;

const walks: Record<ImageType, (view: DataView) => boolean> = {
  "image/png": walkPng,
  "image/jpeg": walkJpeg,
  "image/gif": walkGif,
  "image/webp": walkWebp,
  // This type is never sent as it is.
  "image/bmp": () => false,
};

/** Four letters as the number that they are in a file. */
const tag = (letters: string) => Buffer.from(letters, "latin1").readUInt32BE();
const [IHDR, IDAT, IEND] = ["IHDR", "IDAT", "IEND"].map(tag);

function walkPng(view: DataView): boolean {
  if (view.getUint32(12) !== IHDR || view.getUint32(8) !== 13) return false;
  let hasData = false;
  // Each chunk is a length, a name, the data and a checksum.
  for (let index = 33; ;) {
    const [length, name] = [view.getUint32(index), view.getUint32(index + 4)];
    if (name === IEND) return hasData;
    hasData ||= name === IDAT && length > 0;
    index += 12 + length;
  }
}

/** From segment to segment up to the image data, which must be followed by the end marker. */
function walkJpeg(view: DataView): boolean {
  let last = 0;
  for (const { index } of jpegSegments(view)) last = index;
  return endsAfter(view, last + 2);
}

const endsAfter = ({ buffer, byteOffset, byteLength }: DataView, index: number) =>
  Buffer.from(buffer, byteOffset, byteLength).includes(Buffer.of(0xff, 0xd9), index);

function walkGif(view: DataView): boolean {
  let hasImage = false;
  for (let index = 13 + colours(view.getUint8(10)); ;) {
    const kind = view.getUint8(index);
    if (kind === 0x3b) return hasImage;
    if (kind === 0x2c) {
      hasImage = true;
      index = afterBlocks(view, index + 11 + colours(view.getUint8(index + 9)));
    } else if (kind === 0x21) index = afterBlocks(view, index + 2);
    else return false;
  }
}

/** How many bytes a table of colours has, by the flags that announce it. */
const colours = (flags: number) => (flags & 0x80 ? 3 << ((flags & 0x07) + 1) : 0);

/** Blocks begin with their length; one of length 0 is the last. */
function afterBlocks(view: DataView, start: number): number {
  let index = start;
  for (let length = view.getUint8(index); length > 0; length = view.getUint8(index)) index += 1 + length;
  return index + 1;
}

const pictures = new Set(["VP8 ", "VP8L", "ANMF"].map(tag));

function walkWebp(view: DataView): boolean {
  const end = 8 + view.getUint32(4, true);
  if (end > view.byteLength) return false;
  let hasData = false;
  let index = 12;
  while (index < end) {
    const [name, length] = [view.getUint32(index), view.getUint32(index + 4, true)];
    hasData ||= pictures.has(name) && length > 0;
    // Data of an odd length is followed by a byte that means nothing.
    index += 8 + length + (length % 2);
  }
  return hasData && index === end;
}
