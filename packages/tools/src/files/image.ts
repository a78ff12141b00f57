/** Makes an image fit to be shown to a model. */
import type { ImageContent } from "@tau/ai";
import { ToolsError } from "../errors.ts";
import { formatBytes } from "../truncate.ts";
import { readOrientation } from "./image-orientation.ts";
import { readImageSize } from "./image-size.ts";
import { isWholeImage } from "./image-whole.ts";
import type { ShrinkLimits } from "./image-worker.ts";
import type { ImageType } from "./sniff.ts";

/** Decoding takes about 20 bytes a pixel, so this is half a gigabyte for a few seconds. */
export const maxImagePixels = 25_000_000;
export const maxImageFileBytes = 50 * 1024 * 1024;
const defaultSidePixels = 2_000;
/** The size of an image that providers accept, counted in base64. */
const defaultMaxBytes = Math.floor((4.5 * 1024 * 1024) / 4) * 3;

interface PreparedImage {
  image: ImageContent;
  /** How it was changed, for the model; undefined when it was not. */
  note: string | undefined;
}

/** How large an image may be that is shown. */
export interface ImageLimits {
  /** Default 2000. */
  maxSidePixels?: number;
  /** Limits of single sides, in pixels. Default: none. */
  maxWidth?: number;
  maxHeight?: number;
  /** Bytes of the file, not of its base64. Default: what providers accept. */
  maxBytes?: number;
  /** 1 to 100. Default 80. */
  jpegQuality?: number;
}

/** Refuses images that are too large to decode, by their header; makes others fit, unless `resizes` is false. */
export async function prepareImage(
  bytes: Uint8Array,
  type: ImageType,
  {
    resizes = true,
    maxSidePixels: maxSide = defaultSidePixels,
    maxWidth = Number.POSITIVE_INFINITY,
    maxHeight = Number.POSITIVE_INFINITY,
    maxBytes = defaultMaxBytes,
    jpegQuality = 80,
    ...limits
  }: ShrinkLimits & ImageLimits & { resizes?: boolean },
): Promise<PreparedImage> {
  const { path } = limits;
  const size = readImageSize(bytes, type);
  if (!size) throw new ToolsError("binary", `${path} is a damaged image: its header does not say how large it is.`);
  if (size.width * size.height > maxImagePixels) {
    throw new ToolsError(
      "too_large",
      `${path} is an image of ${size.width}×${size.height} pixels; at most ${maxImagePixels.toLocaleString("en-US")} can be shown. Make it smaller first.`,
    );
  }
  // One limit of the longer side, since the proportions stay.
  const scale = Math.min(1, maxWidth / size.width, maxHeight / size.height);
  const maxSidePixels = Math.max(1, Math.min(maxSide, Math.floor(Math.max(size.width, size.height) * scale)));
  const isSmall = bytes.length <= maxBytes && isWholeImage(bytes, type);
  const fits = Math.max(size.width, size.height) <= maxSidePixels;
  if (isSmall && (fits || !resizes)) return { image: toImage(bytes, type), note: undefined };
  if (!resizes) {
    const limit = formatBytes((maxBytes / 3) * 4);
    const why = "the settings say that images are not made smaller";
    throw new ToolsError(
      "too_large",
      `${path} cannot be shown as it is: models take ${limit} of a whole image, and ${why}.`,
    );
  }
  // Loaded late: most images are small enough, and most sessions have none.
  const { shrinkImage } = await import("./image-worker.ts");
  const orientation = readOrientation(bytes, type);
  const small = await shrinkImage({ bytes, maxSidePixels, maxBytes, jpegQuality, orientation }, limits);
  if (!small) {
    const limit = formatBytes((maxBytes / 3) * 4);
    throw new ToolsError("too_large", `${path} does not fit into ${limit}, however small it is made.`);
  }
  const upright = orientation.turn % 180 === 0 ? size : { width: size.height, height: size.width };
  const isResized = small.width !== upright.width || small.height !== upright.height;
  const note = isResized
    ? `[Shown as ${small.width}×${small.height} pixels; the original has ${upright.width}×${upright.height}.]`
    : `[Shown as ${small.type}; the original is ${type}.]`;
  return { image: toImage(small.bytes, small.type), note };
}

const toImage = (bytes: Uint8Array, mimeType: string): ImageContent => ({
  type: "image",
  data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
  mimeType,
});
