/** How the pixels of a photograph have to be turned to stand upright: cameras write that beside them. Pure. */
import { jpegSegments, readStructure } from "./image-size.ts";
import type { ImageType } from "./sniff.ts";

export interface Orientation {
  /** Whether left and right have to be swapped first. */
  isMirrored: boolean;
  /** Degrees, clockwise. */
  turn: 0 | 90 | 180 | 270;
}

/** By the numbers from 1 to 8 that EXIF has for them. */
const orientations: readonly Orientation[] = [
  { isMirrored: false, turn: 0 },
  { isMirrored: true, turn: 0 },
  { isMirrored: false, turn: 180 },
  { isMirrored: true, turn: 180 },
  { isMirrored: true, turn: 270 },
  { isMirrored: false, turn: 90 },
  { isMirrored: true, turn: 90 },
  { isMirrored: false, turn: 270 },
];

/** Upright where the file does not say otherwise. */
export function readOrientation(bytes: Uint8Array, type: ImageType): Orientation {
  const number = type === "image/jpeg" ? readStructure(bytes, findNumber) : undefined;
  return orientations[(number ?? 1) - 1] ?? orientations[0]!;
}

const exifMarker = 0xe1;
const exifName = 0x45786966; // "Exif"
const littleEndian = 0x4949;
const orientationTag = 0x0112;

function findNumber(view: DataView): number | undefined {
  for (const { marker, index } of jpegSegments(view)) {
    if (marker !== exifMarker || view.getUint32(index + 4) !== exifName) continue;
    const start = index + 10;
    const isLittle = view.getUint16(start) === littleEndian;
    const table = start + view.getUint32(start + 4, isLittle);
    const count = view.getUint16(table, isLittle);
    for (let entry = table + 2; entry < table + 2 + 12 * count; entry += 12) {
      if (view.getUint16(entry, isLittle) === orientationTag) return view.getUint16(entry + 8, isLittle);
    }
  }
  return undefined;
}
