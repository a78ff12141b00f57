/** Describes an image by its header, what a camera wrote into it, and its colours. */
import { ToolsError } from "../errors.ts";
import { type Exif, findExif, readExif } from "./exif.ts";
import { maxImagePixels } from "./image.ts";
import { type ImageSize, readImageSize, readStructure } from "./image-size.ts";
import type { ShrinkLimits } from "./image-worker.ts";
import { getPalette, type PaletteColour } from "./palette.ts";
import { detectImageType, type ImageType } from "./sniff.ts";

export interface ImageFacts extends ImageSize {
  readonly type: ImageType | "image/tiff";
  readonly exif: Exif | undefined;
  /** Undefined if the pixels cannot be read. */
  readonly palette: readonly PaletteColour[] | undefined;
}

/** Throws a `ToolsError` for a file that is not an image, or whose header is damaged. */
export async function inspectImage(bytes: Uint8Array, limits: ShrinkLimits): Promise<ImageFacts> {
  const { path } = limits;
  const type = detectImageType(bytes) ?? (isTiff(bytes) ? "image/tiff" : undefined);
  if (type === undefined)
    throw new ToolsError("binary", `${path} is not an image of a known kind (PNG, JPEG, GIF, WebP, BMP, TIFF).`);
  const size = type === "image/tiff" ? readTiffSize(bytes) : readImageSize(bytes, type);
  if (!size) throw new ToolsError("binary", `${path} is a damaged image: its header does not say how large it is.`);
  const block = findExif(bytes, type);
  return { type, ...size, exif: block && readExif(block), palette: await readPalette(bytes, size, limits) };
}

const sampleSide = 64;

/** Undefined for an image that is too large, that is damaged, or that the decoder does not know. */
async function readPalette(
  bytes: Uint8Array,
  { width, height }: ImageSize,
  limits: ShrinkLimits,
): Promise<PaletteColour[] | undefined> {
  if (width * height > maxImagePixels) return undefined;
  const { sampleImage } = await import("./image-worker.ts");
  try {
    return getPalette(await sampleImage(bytes, sampleSide, limits));
  } catch (error) {
    if (error instanceof ToolsError && (error.code === "binary" || error.code === "timeout")) return undefined;
    throw error;
  }
}

const isTiff = (bytes: Uint8Array): boolean =>
  ["49492a00", "4d4d002a"].includes(Buffer.from(bytes.subarray(0, 4)).toString("hex"));

const [widthTag, heightTag] = [0x0100, 0x0101];
const maxEntries = 200;

/** Reads the size of the first picture in the file. */
function readTiffSize(bytes: Uint8Array): ImageSize | undefined {
  return readStructure(bytes, (view) => {
    const isLittle = view.getUint16(0) === 0x4949;
    const table = view.getUint32(4, isLittle);
    const count = Math.min(maxEntries, view.getUint16(table, isLittle));
    let [width, height] = [0, 0];
    for (let index = table + 2; index < table + 2 + 12 * count; index += 12) {
      const tag = view.getUint16(index, isLittle);
      const isShort = view.getUint16(index + 2, isLittle) === 3;
      if (tag !== widthTag && tag !== heightTag) continue;
      const value = isShort ? view.getUint16(index + 8, isLittle) : view.getUint32(index + 8, isLittle);
      if (tag === widthTag) width = value;
      else height = value;
    }
    return width > 0 && height > 0 ? { width, height } : undefined;
  });
}
