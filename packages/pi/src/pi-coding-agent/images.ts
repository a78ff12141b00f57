/** Images as models take them. */
import { open } from "node:fs/promises";
import { systemClock } from "@tau/ai";
import { prepareImage } from "@tau/tools";
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

/** Makes an image fit the limits of models. `data` is base64. */
export async function resizeImage({ data, mimeType }: { data: string; mimeType: string }): Promise<ResizedImage> {
  const before = getImageDimensions(data, mimeType);
  const limits = { path: "The image", clock: systemClock, signal: undefined };
  const { image, note } = await prepareImage(Buffer.from(data, "base64"), mimeType as ImageType, limits);
  const after = getImageDimensions(image.data, image.mimeType);
  return {
    data: image.data,
    mimeType: image.mimeType,
    originalWidth: before?.widthPx ?? 0,
    originalHeight: before?.heightPx ?? 0,
    width: after?.widthPx ?? 0,
    height: after?.heightPx ?? 0,
    wasResized: note !== undefined,
  };
}

/** How coordinates in the image that is shown relate to the original; undefined if it was not resized. */
export function formatDimensionNote(image: ResizedImage): string | undefined {
  if (!image.wasResized) return undefined;
  const scale = (image.originalWidth / image.width).toFixed(2);
  const sizes = `original ${image.originalWidth}x${image.originalHeight}, displayed at ${image.width}x${image.height}`;
  return `[Image: ${sizes}. Multiply coordinates by ${scale} to map to original image.]`;
}
