/** Reads width and height of an image from its header: a file of a few bytes may claim to be enormous. Pure. */
import type { ImageType } from "./sniff.ts";

export interface ImageSize {
  width: number;
  height: number;
}

/** Undefined when the header is damaged or does not say. */
export function readImageSize(bytes: Uint8Array, type: ImageType): ImageSize | undefined {
  const size = readStructure(bytes, readers[type]);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

/** Undefined when the bytes end before the structure that is read does. */
export function readStructure<T>(bytes: Uint8Array, read: (view: DataView) => T): T | undefined {
  try {
    return read(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const readers: Record<ImageType, (view: DataView) => ImageSize | undefined> = {
  "image/png": (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  "image/gif": (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  "image/bmp": readBmp,
  "image/jpeg": readJpeg,
  "image/webp": readWebp,
};

function readBmp(view: DataView): ImageSize {
  // The oldest kind has a header of 12 bytes with short numbers.
  if (view.getUint32(14, true) === 12) return { width: view.getUint16(18, true), height: view.getUint16(20, true) };
  // A negative height means that the rows come from the top.
  return { width: Math.abs(view.getInt32(18, true)), height: Math.abs(view.getInt32(22, true)) };
}

/**
 * Walks over the segments to the picture's data. Of several frames the largest is taken: decoders differ in which they
 * take.
 */
function readJpeg(view: DataView): ImageSize | undefined {
  let largest: ImageSize | undefined;
  for (const { marker, index } of jpegSegments(view)) {
    if (!isFrame(marker)) continue;
    const size = { height: view.getUint16(index + 5), width: view.getUint16(index + 7) };
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}

const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/**
 * The segments of a JPEG up to the picture's data, which is the last. `index` is where one begins. Throws a RangeError for
 * whatever is no segment: decoders skip such things in ways of their own, and would then see another picture than we do.
 */
export function* jpegSegments(view: DataView): Generator<{ marker: number; index: number }> {
  for (let index = 2; ;) {
    const marker = view.getUint8(index + 1);
    if (view.getUint8(index) !== 0xff) throw new RangeError("no marker");
    // Any number of these may stand before a marker.
    if (marker === 0xff) {
      index += 1;
      continue;
    }
    const length = view.getUint16(index + 2);
    if (!hasLength(marker) || length < 2) throw new RangeError("no segment");
    yield { marker, index };
    if (marker === dataMarker) return;
    index += 2 + length;
  }
}

const dataMarker = 0xda;

/** Not those that stand alone: they have no business before the data. */
const hasLength = (marker: number) => marker >= 0xc0 && (marker < 0xd0 || marker > 0xd9);

function readWebp(view: DataView): ImageSize | undefined {
  switch (view.getUint32(12)) {
    case 0x56503820: // "VP8 "
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 0x5650384c: {
      // "VP8L": two numbers of 14 bits, one less than meant.
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56503858: // "VP8X": numbers of 24 bits, one less than meant.
      return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
    default:
      return undefined;
  }
}

const uint24 = (view: DataView, index: number) => view.getUint16(index, true) | (view.getUint8(index + 2) << 16);
