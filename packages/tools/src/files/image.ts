/** Makes an image fit to be shown to a model. */
import type { ImageContent } from "@tau/ai";
import { ToolsError } from "../errors.ts";
import { formatBytes } from "../truncate.ts";
import { type ImageSize, imageSizeOf } from "./image-size.ts";
import type { ImageType } from "./sniff.ts";

export const mostImagePixels = 50_000_000;
export const mostImageFileBytes = 50 * 1024 * 1024;
export const longestImageSide = 2_000;
/** What providers take of one image, counted in base64. */
const mostEncodedBytes = 4.5 * 1024 * 1024;

export interface PreparedImage {
  image: ImageContent;
  /** What was done to it, for the model; undefined when nothing was. */
  note: string | undefined;
}

/** Refuses what would be too large to decode, by its header; makes the rest fit. */
export async function prepareImage(bytes: Uint8Array, type: ImageType, path: string): Promise<PreparedImage> {
  const size = imageSizeOf(bytes, type);
  if (!size) throw new ToolsError("binary", `${path} is a damaged image: its header does not say how large it is.`);
  const pixels = size.width * size.height;
  if (pixels > mostImagePixels) {
    throw new ToolsError(
      "too_large",
      `${path} is an image of ${size.width}×${size.height} pixels; at most ${mostImagePixels.toLocaleString("en-US")} can be shown. Make it smaller first.`,
    );
  }
  if (type !== "image/bmp" && fits(size) && encodedBytes(bytes) <= mostEncodedBytes) {
    return { image: { type: "image", data: base64(bytes), mimeType: type }, note: undefined };
  }
  return await shrink(bytes, size, path);
}

const fits = ({ width, height }: ImageSize) => width <= longestImageSide && height <= longestImageSide;
const encodedBytes = (bytes: Uint8Array) => Math.ceil(bytes.length / 3) * 4;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

/** Smaller and smaller, first without loss, then with, until it fits. */
async function shrink(bytes: Uint8Array, size: ImageSize, path: string): Promise<PreparedImage> {
  const photon = await import("@silvia-odwyer/photon-node");
  let original: InstanceType<typeof photon.PhotonImage>;
  try {
    original = photon.PhotonImage.new_from_byteslice(bytes);
  } catch (error) {
    throw new ToolsError("binary", `${path} is an image that cannot be decoded.`, { cause: error });
  }
  try {
    for (let side = longestImageSide; side >= 100; side = Math.floor(side * 0.75)) {
      const scale = Math.min(1, side / Math.max(size.width, size.height));
      const width = Math.max(1, Math.round(size.width * scale));
      const height = Math.max(1, Math.round(size.height * scale));
      const resized = photon.resize(original, width, height, photon.SamplingFilter.Lanczos3);
      try {
        const encoded = smallEnough([
          ["image/png", () => resized.get_bytes()],
          ["image/jpeg", () => resized.get_bytes_jpeg(80)],
        ]);
        if (!encoded) continue;
        const note = `[Shown as ${width}×${height} pixels; the original has ${size.width}×${size.height}.]`;
        return { image: { type: "image", data: base64(encoded.bytes), mimeType: encoded.type }, note };
      } finally {
        resized.free();
      }
    }
  } finally {
    original.free();
  }
  throw new ToolsError(
    "too_large",
    `${path} does not fit into ${formatBytes(mostEncodedBytes)}, however small it is made.`,
  );
}

function smallEnough(encodings: readonly (readonly [string, () => Uint8Array])[]) {
  for (const [type, encode] of encodings) {
    const bytes = encode();
    if (encodedBytes(bytes) <= mostEncodedBytes) return { type, bytes };
  }
  return undefined;
}
