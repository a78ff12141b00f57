/** Images as models take them. */
import { open } from "node:fs/promises";
import { systemClock } from "@tau/ai";
import { prepareImage, ToolsError } from "@tau/tools";
import { detectImageType, type ImageType } from "@tau/tools/platform";
import { getImageDimensions } from "@tau/tui";

const headBytes = 4_100;

/** Null for a file that is no image of a kind that models take. */
export async function detectSupportedImageMimeTypeFromFile(path: string): Promise<string | null> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return detectImageType(buffer.subarray(0, bytesRead)) ?? null;
  } finally {
    await file.close();
  }
}

interface ResizedImage {
  data: string;
  mimeType: string;
  originalWidth: number;
  originalHeight: number;
  width: number;
  height: number;
  wasResized: boolean;
}

interface ImageResizeOptions {
  /** Pixels. Default 2000. */
  maxWidth?: number;
  /** Pixels. Default 2000. */
  maxHeight?: number;
  /** Bytes of the image in base64. Default 4.5 MB. */
  maxBytes?: number;
  /** Default 80. */
  jpegQuality?: number;
}

/** An image in the form of versions before 1.0, in base64. */
interface EncodedImage {
  data: string;
  mimeType: string;
}

/** Makes an image fit its limits. Null for one that cannot be read or does not fit. */
export async function resizeImage(image: EncodedImage, options?: ImageResizeOptions): Promise<ResizedImage | null>;
export async function resizeImage(
  bytes: Uint8Array,
  mimeType: string,
  options?: ImageResizeOptions,
): Promise<ResizedImage | null>;
export async function resizeImage(
  image: EncodedImage | Uint8Array,
  typeOrOptions?: string | ImageResizeOptions,
  otherOptions?: ImageResizeOptions,
): Promise<ResizedImage | null> {
  const isBytes = image instanceof Uint8Array;
  const bytes = isBytes ? image : Buffer.from(image.data, "base64");
  const mimeType = isBytes ? String(typeOrOptions) : image.mimeType;
  const options = (isBytes ? otherOptions : (typeOrOptions as ImageResizeOptions | undefined)) ?? {};
  const original = getImageDimensions(Buffer.from(bytes).toString("base64"), mimeType);
  if (!original) return null;
  const { widthPx: originalWidth, heightPx: originalHeight } = original;
  const limits = { path: "The image", clock: systemClock, signal: undefined };
  try {
    const prepared = await prepareImage(bytes, mimeType as ImageType, { ...limits, ...toLimits(original, options) });
    const { data, mimeType: type } = prepared.image;
    const { widthPx: width, heightPx: height } = getImageDimensions(data, type) ?? original;
    const wasResized = prepared.note !== undefined;
    return { data, mimeType: type, originalWidth, originalHeight, width, height, wasResized };
  } catch (error) {
    if (error instanceof ToolsError) return null;
    throw error;
  }
}

/** Turns limits of both sides into one of the longer side, since the proportions stay. */
function toLimits(
  { widthPx, heightPx }: { widthPx: number; heightPx: number },
  { maxWidth = 2_000, maxHeight = 2_000, maxBytes, jpegQuality }: ImageResizeOptions,
) {
  const scale = Math.min(1, maxWidth / widthPx, maxHeight / heightPx);
  return {
    maxSidePixels: Math.max(1, Math.floor(Math.max(widthPx, heightPx) * scale)),
    ...(maxBytes !== undefined && { maxBytes: Math.floor(maxBytes / 4) * 3 }),
    ...(jpegQuality !== undefined && { jpegQuality }),
  };
}

/** How coordinates in the image that is shown relate to the original; undefined if it was not resized. */
export function formatDimensionNote(image: ResizedImage): string | undefined {
  if (!image.wasResized) return undefined;
  const scale = (image.originalWidth / image.width).toFixed(2);
  const sizes = `original ${image.originalWidth}x${image.originalHeight}, displayed at ${image.width}x${image.height}`;
  return `[Image: ${sizes}. Multiply coordinates by ${scale} to map to original image.]`;
}
